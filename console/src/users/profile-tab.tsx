import * as z from 'zod/mini';
import { Time } from '../controls/time.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckField, TextAreaField, TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import { isObjectText, objectIn, objectText } from '../forms/object-text.ts';
import type { UserQuery } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { recordMessages } from '../records/messages.ts';
import { Properties, Property, Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { UpdateUser, UpdateUserCustomData, UpdateUserProfile } from './documents.ts';
import { userMessages } from './messages.ts';

/** A user as the page of it has it. */
export type ShownUser = NonNullable<UserQuery['user']>;

/** How the person is found and reached, what is known about them. */
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
      <CheckField name="isEmailVerified" label={t.emailVerified} />
      <TextField name="primaryPhone" type="tel" label={t.phone} hint={t.phoneHint} isOptional />
      <CheckField name="isPhoneVerified" label={t.phoneVerified} />
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
