import * as z from 'zod/mini';
import type { SigningAlgorithm } from '../generated/graphql.ts';
import { signingAlgorithms } from '../kit/api/signing-algorithms.ts';
import { Notice } from '../kit/controls/notice.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { changedDescribed, filledText } from '../kit/forms/described.ts';
import { CheckField, SelectField, TextField } from '../kit/forms/fields.tsx';
import { filled, ListField } from '../kit/forms/list-field.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { DeleteSection } from '../kit/records/delete-record.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { Credentials } from './credentials.tsx';
import { DeleteApplication, UpdateApplication } from './documents.ts';
import { applicationMessages } from './messages.ts';
import { Quickstart } from './quickstart/quickstart.tsx';
import { TokenExchange } from './token-exchange.tsx';
import { type ShownApplication, signsIn } from './types.ts';

/** The credentials, token exchange, the settings and the deletion. */
export function GeneralTab({ application }: { application: ShownApplication }) {
  const t = useMessages(applicationMessages);
  const canWrite = useCan('applications:write');
  return (
    <>
      <Credentials application={application} />
      {application.origin === 'ADMINISTRATION' && (
        <>
          <Quickstart application={application} />
          <TokenExchange application={application} />
        </>
      )}
      <Section title={t.settings}>
        <SettingsForm application={application} isReadOnly={!canWrite} />
      </Section>
      {canWrite && (
        <DeleteSection
          texts={t}
          name={application.name}
          alsoDeleted={[t.deletesSecrets, t.deletesTokens, t.deletesMemberships]}
          document={DeleteApplication}
          input={{ id: application.id }}
          to="/applications"
        />
      )}
    </>
  );
}

function SettingsForm({
  application,
  isReadOnly,
}: {
  application: ShownApplication;
  isReadOnly: boolean;
}) {
  const t = useMessages(applicationMessages);
  const texts = useMessages(formMessages);
  const hasSignIn = signsIn(application.type);
  const isOwn = application.origin === 'ADMINISTRATION';
  // Its metadata document says what it is called and where people are led.
  const isDescribed = application.origin === 'METADATA_DOCUMENT';
  return (
    <ActionForm
      document={UpdateApplication}
      record={application}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: filledText(texts.required),
        description: z.string(),
        redirectUris: z.array(z.string()),
        postLogoutRedirectUris: z.array(z.string()),
        corsAllowedOrigins: z.array(z.string()),
        idTokenSigningAlg: z.string(),
        allowHeadlessSignIn: z.boolean(),
        allowDeviceGrant: z.boolean(),
        isThirdParty: z.boolean(),
      })}
      values={{
        name: application.name,
        description: application.description ?? '',
        redirectUris: application.redirectUris,
        postLogoutRedirectUris: application.postLogoutRedirectUris,
        corsAllowedOrigins: application.corsAllowedOrigins,
        idTokenSigningAlg: application.idTokenSigningAlg ?? '',
        allowHeadlessSignIn: application.allowHeadlessSignIn,
        allowDeviceGrant: application.allowDeviceGrant,
        isThirdParty: application.isThirdParty,
      }}
      toInput={({ name, description, ...values }) => ({
        id: application.id,
        ...changedDescribed({ name, description }),
        ...(isDescribed ? { name: undefined } : {}),
        ...(hasSignIn
          ? {
              ...(isDescribed
                ? {}
                : {
                    redirectUris: filled(values.redirectUris),
                    postLogoutRedirectUris: filled(values.postLogoutRedirectUris),
                  }),
              corsAllowedOrigins: filled(values.corsAllowedOrigins),
              idTokenSigningAlg: (values.idTokenSigningAlg || null) as SigningAlgorithm | null,
              allowDeviceGrant: values.allowDeviceGrant,
              ...(isOwn
                ? {
                    allowHeadlessSignIn: values.allowHeadlessSignIn,
                    isThirdParty: values.isThirdParty,
                  }
                : {}),
            }
          : {}),
      })}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      {isDescribed ? (
        <Notice>{t.describesItself}</Notice>
      ) : (
        <TextField name="name" label={t.name} hint={hasSignIn ? t.nameHint : undefined} />
      )}
      <TextField name="description" label={t.description} isOptional />
      {hasSignIn && (
        <>
          {!isDescribed && (
            <>
              <ListField
                name="redirectUris"
                label={t.redirectUris}
                hint={t.redirectUrisHint}
                placeholder="https://app.example.com/callback"
              />
              <ListField
                name="postLogoutRedirectUris"
                label={t.postLogoutRedirectUris}
                hint={t.postLogoutHint}
                placeholder="https://app.example.com/"
              />
            </>
          )}
          <ListField
            name="corsAllowedOrigins"
            label={t.cors}
            hint={t.corsHint}
            placeholder="https://app.example.com"
          />
          <SelectField
            name="idTokenSigningAlg"
            label={t.idTokenAlg}
            options={[
              { value: '', label: t.asAccessTokens },
              ...signingAlgorithms.map((value) => ({ value, label: value })),
            ]}
          />
          {isOwn && (
            <CheckField name="allowHeadlessSignIn" label={t.headless} hint={t.headlessHint} />
          )}
          <CheckField name="allowDeviceGrant" label={t.deviceGrant} hint={t.deviceGrantHint} />
          {isOwn && <CheckField name="isThirdParty" label={t.thirdParty} hint={t.thirdPartyHint} />}
        </>
      )}
    </ActionForm>
  );
}
