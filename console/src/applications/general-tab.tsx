import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckField, SelectField, TextField } from '../forms/fields.tsx';
import { filled, ListField } from '../forms/list-field.tsx';
import { formMessages } from '../forms/messages.ts';
import type { ApplicationQuery, SigningAlgorithm } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { DeleteRecord } from '../records/delete-record.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { Credentials } from './credentials.tsx';
import { DeleteApplication, UpdateApplication } from './documents.ts';
import { applicationMessages } from './messages.ts';
import { TokenExchange } from './token-exchange.tsx';
import { signsIn } from './types.ts';

/** An application as its page has it. */
export type ShownApplication = NonNullable<ApplicationQuery['application']>;

const algorithms: readonly SigningAlgorithm[] = ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'];

/** Credentials, token exchange, settings, and the way to delete it. */
export function GeneralTab({ application }: { application: ShownApplication }) {
  const t = useMessages(applicationMessages);
  const canWrite = useCan('applications:write');
  const navigate = useNavigate();
  return (
    <>
      <Credentials application={application} />
      <TokenExchange application={application} />
      <Section title={t.settings}>
        <SettingsForm application={application} isReadOnly={!canWrite} />
      </Section>
      {canWrite && (
        <Section
          title={t.deleteTitle}
          about={t.deleteAbout}
          isDangerous
          action={
            <DeleteRecord
              name={application.name}
              goesToo={[t.goesSecrets, t.goesTokens, t.goesMemberships]}
              document={DeleteApplication}
              input={{ id: application.id }}
              onDone={() => {
                toast.done(t.deleted(application.name));
                void navigate({ to: '/applications' });
              }}
            />
          }
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
  return (
    <ActionForm
      document={UpdateApplication}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        description: z.string(),
        redirectUris: z.array(z.string()),
        postLogoutRedirectUris: z.array(z.string()),
        corsAllowedOrigins: z.array(z.string()),
        idTokenSigningAlg: z.string(),
        allowHeadlessSignIn: z.boolean(),
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
        isThirdParty: application.isThirdParty,
      }}
      toInput={(values) => ({
        id: application.id,
        name: values.name.trim(),
        description: values.description.trim() || null,
        ...(hasSignIn
          ? {
              redirectUris: filled(values.redirectUris),
              postLogoutRedirectUris: filled(values.postLogoutRedirectUris),
              corsAllowedOrigins: filled(values.corsAllowedOrigins),
              idTokenSigningAlg: (values.idTokenSigningAlg || null) as SigningAlgorithm | null,
              allowHeadlessSignIn: values.allowHeadlessSignIn,
              isThirdParty: values.isThirdParty,
            }
          : {}),
      })}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <TextField name="name" label={t.name} hint={hasSignIn ? t.nameHint : undefined} />
      <TextField name="description" label={t.description} isOptional />
      {hasSignIn && (
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
              ...algorithms.map((value) => ({ value, label: value })),
            ]}
          />
          <CheckField name="allowHeadlessSignIn" label={t.headless} hint={t.headlessHint} />
          <CheckField name="isThirdParty" label={t.thirdParty} hint={t.thirdPartyHint} />
        </>
      )}
    </ActionForm>
  );
}
