import * as z from 'zod/mini';
import type { UserQuery } from '../generated/graphql.ts';
import { Time } from '../kit/controls/time.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { TextAreaField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { isObjectText, objectIn, objectText } from '../kit/forms/object-text.ts';
import { VerifiedField } from '../kit/forms/verified-field.tsx';
import { useMessages } from '../kit/language/language.ts';
import { recordMessages } from '../kit/records/messages.ts';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { UpdateUser, UpdateUserCustomData, UpdateUserProfile } from './documents.ts';
import { userMessages } from './messages.ts';

/** A user as their page reads it. */
export type ShownUser = NonNullable<UserQuery['user']>;

/** The user's identifiers, profile claims and custom data. */
export function ProfileTab({ user }: { user: ShownUser }) {
  const t = useMessages(userMessages);
  const records = useMessages(recordMessages);
  const isReadOnly = !useCan('users:write');
  return (
    <>
      <Section title={t.account} about={t.accountAbout}>
        <AccountForm user={user} isReadOnly={isReadOnly} />
      </Section>
      <Section title={t.claims} about={t.claimsAbout}>
        <ClaimsForm user={user} isReadOnly={isReadOnly} />
      </Section>
      <Section title={t.customData} about={t.customDataAbout}>
        <CustomDataForm user={user} isReadOnly={isReadOnly} />
      </Section>
      <Section title={t.status}>
        <Properties>
          <Property name={t.password}>
            {user.hasPassword ? t.hasPassword : t.hasNoPassword}
          </Property>
          <Property name={t.lastSignIn}>
            {user.lastSignInAt ? <Time at={user.lastSignInAt} /> : t.never}
          </Property>
          <Property name={t.createdAt}>
            <Time at={user.createdAt} />
          </Property>
          <Property name={records.updated}>
            <Time at={user.updatedAt} />
          </Property>
        </Properties>
      </Section>
    </>
  );
}

interface Props {
  readonly user: ShownUser;
  readonly isReadOnly: boolean;
}

function AccountForm({ user, isReadOnly }: Props) {
  const t = useMessages(userMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={UpdateUser}
      record={user}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: z.string(),
        username: z.string(),
        primaryEmail: z.string(),
        isEmailVerified: z.boolean(),
        primaryPhone: z.string(),
        isPhoneVerified: z.boolean(),
        avatar: z.string(),
      })}
      values={{
        name: user.name ?? '',
        username: user.username ?? '',
        primaryEmail: user.primaryEmail ?? '',
        isEmailVerified: user.isEmailVerified,
        primaryPhone: user.primaryPhone ?? '',
        isPhoneVerified: user.isPhoneVerified,
        avatar: user.avatar ?? '',
      }}
      toInput={(values) => {
        const primaryEmail = values.primaryEmail.trim() || null;
        const primaryPhone = values.primaryPhone.trim() || null;
        return {
          id: user.id,
          name: values.name.trim() || null,
          username: values.username.trim() || null,
          primaryEmail,
          primaryPhone,
          ...(primaryEmail ? { isEmailVerified: values.isEmailVerified } : {}),
          ...(primaryPhone ? { isPhoneVerified: values.isPhoneVerified } : {}),
          avatar: values.avatar.trim() || null,
        };
      }}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <TextField name="name" label={t.name} isOptional />
      <TextField name="username" label={t.username} hint={t.usernameHint} isOptional />
      <TextField name="primaryEmail" type="email" label={t.email} isOptional />
      <VerifiedField name="isEmailVerified" of="primaryEmail" label={t.emailVerified} />
      <TextField name="primaryPhone" type="tel" label={t.phone} hint={t.phoneHint} isOptional />
      <VerifiedField name="isPhoneVerified" of="primaryPhone" label={t.phoneVerified} />
      <TextField name="avatar" type="url" label={t.picture} hint={t.pictureHint} isOptional />
    </ActionForm>
  );
}

function ClaimsForm({ user, isReadOnly }: Props) {
  const t = useMessages(userMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={UpdateUserProfile}
      record={user}
      isReadOnly={isReadOnly}
      schema={z.object({ profile: z.string().check(z.refine(isObjectText, t.notAnObject)) })}
      values={{ profile: objectText(user.profile) }}
      toInput={({ profile }) => ({
        id: user.id,
        profile: objectIn(profile) ?? {},
      })}
      onDone={() => toast.done(texts.saved)}
      submit={t.saveClaims}
    >
      <TextAreaField name="profile" label={t.claims} isCode rows={4} />
    </ActionForm>
  );
}

function CustomDataForm({ user, isReadOnly }: Props) {
  const t = useMessages(userMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={UpdateUserCustomData}
      record={user}
      isReadOnly={isReadOnly}
      schema={z.object({ customData: z.string().check(z.refine(isObjectText, t.notAnObject)) })}
      values={{ customData: objectText(user.customData) }}
      toInput={({ customData }) => ({
        id: user.id,
        customData: objectIn(customData) ?? {},
      })}
      onDone={() => toast.done(texts.saved)}
      submit={t.saveCustomData}
    >
      <TextAreaField name="customData" label={t.customData} isCode rows={4} />
    </ActionForm>
  );
}
