import * as z from 'zod/mini';
import { Badge } from '../kit/controls/badge.tsx';
import { CopyId } from '../kit/controls/copy.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { ShownOnceAction } from '../kit/dialogs/shown-once-action.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { filledText } from '../kit/forms/described.ts';
import { TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { serviceUrl } from '../kit/service-url.ts';
import { useCan } from '../kit/session/session.ts';
import styles from './applications.module.css';
import { CreateApplicationSecret, DeleteApplicationSecret } from './documents.ts';
import { applicationMessages } from './messages.ts';
import { ShownOnce } from './shown-once.tsx';
import { keepsSecret, type ShownApplication } from './types.ts';

/** The client id, the endpoints, and the secrets. */
export function Credentials({ application }: { application: ShownApplication }) {
  const t = useMessages(applicationMessages);
  const canWrite = useCan('applications:write');
  const hasSecrets = keepsSecret(application.type);
  const { allowSecrets } = application;
  return (
    <Section
      title={t.credentials}
      about={t.credentialsAbout}
      action={
        hasSecrets && allowSecrets && canWrite && <CreateSecret applicationId={application.id} />
      }
    >
      <Properties>
        <Property name={t.clientId}>
          <CopyId id={application.metadataUrl ?? application.id} thing={t.clientId} />
        </Property>
        <Property name={t.tokenEndpoint}>
          <CopyId id={`${serviceUrl}/oidc/token`} thing={t.tokenEndpoint} />
        </Property>
        <Property name={t.issuer}>
          <CopyId id={`${serviceUrl}/oidc`} thing={t.issuer} />
        </Property>
        <Property name={t.discovery}>
          <CopyId id={`${serviceUrl}/oidc/.well-known/openid-configuration`} thing={t.discovery} />
        </Property>
        <Property name={t.secrets}>
          {hasSecrets ? <Secrets application={application} /> : t.publicClient}
        </Property>
      </Properties>
    </Section>
  );
}

function Secrets({ application }: { application: ShownApplication }) {
  const t = useMessages(applicationMessages);
  const format = useFormat();
  const canWrite = useCan('applications:write');
  const secrets = application.secrets.edges.map(({ node }) => node);
  if (secrets.length === 0) return application.keys ? t.byKeys : t.noSecrets;
  return (
    <ul className={styles.secrets}>
      {!application.allowSecrets && <li className={styles.about}>{t.secretsOff}</li>}
      {secrets.map(({ id, name, createdAt, expiresAt }) => (
        <li key={id} className={styles.secret}>
          <div className={styles.secretWords}>
            <span className={styles.name}>{name}</span>
            <span className={styles.about}>
              {t.createdAt} {format.dateTime(createdAt)} ·{' '}
              {expiresAt ? t.expiresAt(format.dateTime(expiresAt)) : t.expiresNever}
            </span>
          </div>
          {expiresAt && Date.parse(expiresAt) < Date.now() && <Badge tone="bad">{t.expired}</Badge>}
          {canWrite && (
            <ConfirmAction
              label={t.deleteSecret}
              title={t.deleteSecretTitle(name)}
              text={t.deleteSecretText}
              document={DeleteApplicationSecret}
              input={{ id }}
              kind="danger"
              size="small"
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function CreateSecret({ applicationId }: { applicationId: string }) {
  const t = useMessages(applicationMessages);
  const texts = useMessages(formMessages);
  return (
    <ShownOnceAction
      label={t.createSecret}
      form={(onDone, onCancel) => (
        <ActionForm
          document={CreateApplicationSecret}
          schema={z.object({
            name: filledText(texts.required),
            expiresAt: z.string(),
          })}
          values={{ name: '', expiresAt: '' }}
          toInput={({ name, expiresAt }) => ({
            applicationId,
            name: name.trim(),
            ...(expiresAt ? { expiresAt: new Date(expiresAt).toISOString() } : {}),
          })}
          onDone={(payload) => onDone(payload.secret)}
          submit={t.createSecret}
          onCancel={onCancel}
        >
          <TextField name="name" label={t.secretName} hint={t.secretNameHint} hasFocus />
          <TextField
            name="expiresAt"
            type="datetime-local"
            label={t.expires}
            hint={t.expiryHint}
            isOptional
          />
        </ActionForm>
      )}
      shown={(secret) => <ShownOnce clientId={applicationId} secret={secret} />}
    />
  );
}
