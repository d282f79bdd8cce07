import * as z from 'zod/mini';
import { Badge } from '../../kit/controls/badge.tsx';
import { CopyBlock } from '../../kit/controls/copy.tsx';
import { Notice } from '../../kit/controls/notice.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { ShownOnceAction } from '../../kit/dialogs/shown-once-action.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { filledText } from '../../kit/forms/described.ts';
import { TextField } from '../../kit/forms/fields.tsx';
import { filled, ListField } from '../../kit/forms/list-field.tsx';
import { inLocalTime } from '../../kit/forms/local-time.ts';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import styles from '../users.module.css';
import {
  CreatePersonalAccessToken,
  DeletePersonalAccessToken,
  PersonalAccessTokens,
} from './documents.ts';
import { accessMessages } from './messages.ts';

/** The personal access tokens of a user. */
export function Tokens({ id }: { id: string }) {
  const t = useMessages(accessMessages);
  const canWrite = useCan('users:write');
  return (
    <Section
      title={t.tokens}
      about={t.tokensAbout}
      action={canWrite && <CreateToken userId={id} />}
    >
      <List
        label={t.tokens}
        hasSearch={false}
        page="tokens"
        document={PersonalAccessTokens}
        variables={(address) => ({ id, ...pageIn(address, 'tokens') })}
        connection={({ user }) => user?.personalAccessTokens}
        columns={[
          {
            id: 'name',
            header: t.name,
            cell: ({ name, resource }) => (
              <span className={styles.stack}>
                {name}
                <span className={styles.about}>
                  {resource === null ? t.anyApi : <code>{resource}</code>}
                </span>
              </span>
            ),
          },
          {
            id: 'scopes',
            header: t.scopes,
            from: 'wide',
            cell: ({ scopes }) =>
              scopes === null ? (
                t.allScopes
              ) : (
                <span className={styles.chips}>
                  {scopes?.map((scope) => (
                    <Badge key={scope}>{scope}</Badge>
                  ))}
                </span>
              ),
          },
          {
            id: 'lastUsed',
            header: t.lastUsed,
            isNarrow: true,
            from: 'medium',
            cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} as="ago" /> : t.never),
          },
          {
            id: 'expires',
            header: t.expires,
            isNarrow: true,
            from: 'medium',
            cell: ({ expiresAt }) => <Time at={expiresAt} />,
          },
          {
            id: 'delete',
            header: '',
            isNarrow: true,
            cell: (token) =>
              canWrite && (
                <ConfirmAction
                  label={t.deleteToken}
                  title={t.deleteTokenTitle(token.name)}
                  text={t.deleteTokenText}
                  document={DeletePersonalAccessToken}
                  input={{ id: token.id }}
                  onDone={() => toast.done(t.tokenDeleted)}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noTokens}</p>}
      />
    </Section>
  );
}

const monthMs = 30 * 86_400_000;

function CreateToken({ userId }: { userId: string }) {
  const t = useMessages(accessMessages);
  const texts = useMessages(formMessages);
  return (
    <ShownOnceAction
      label={t.createToken}
      form={(onDone, onCancel) => (
        <ActionForm
          document={CreatePersonalAccessToken}
          schema={z.object({
            name: filledText(texts.required),
            expiresAt: z.string().check(z.minLength(1, texts.required)),
            resource: z.string(),
            scopes: z.array(z.string()),
          })}
          values={{
            name: '',
            expiresAt: inLocalTime(new Date(Date.now() + monthMs)),
            resource: '',
            scopes: [] as string[],
          }}
          toInput={({ name, expiresAt, resource, scopes }) => ({
            userId,
            name: name.trim(),
            expiresAt: expiresAt && new Date(expiresAt).toISOString(),
            ...(resource.trim() ? { resource: resource.trim() } : {}),
            ...(filled(scopes).length > 0 ? { scopes: filled(scopes) } : {}),
          })}
          onDone={(payload) => onDone(payload.token)}
          submit={t.createToken}
          onCancel={onCancel}
        >
          <TextField name="name" label={t.name} hint={t.nameHint} hasFocus />
          <TextField name="expiresAt" type="datetime-local" label={t.expires} />
          <TextField
            name="resource"
            label={t.api}
            hint={t.apiHint}
            placeholder="https://orders.example.com"
            isCode
            isOptional
          />
          <ListField name="scopes" label={t.scopes} hint={t.scopesHint} placeholder="orders:read" />
        </ActionForm>
      )}
      shown={(token) => (
        <div className={styles.import}>
          <Notice tone="warn" title={t.tokenTitle}>
            {t.tokenText}
          </Notice>
          <CopyBlock label={t.token} text={token} />
        </div>
      )}
    />
  );
}
