import * as z from 'zod/mini';
import type { AdmissionQuery } from '../../generated/graphql.ts';
import { CopyBlock, CopyId } from '../../kit/controls/copy.tsx';
import { quoted } from '../../kit/controls/copy-as.tsx';
import { Notice } from '../../kit/controls/notice.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { ShownOnceAction } from '../../kit/dialogs/shown-once-action.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { TextField } from '../../kit/forms/fields.tsx';
import { inLocalTime } from '../../kit/forms/local-time.ts';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { Properties, Property, Section } from '../../kit/records/section.tsx';
import { serviceUrl } from '../../kit/service-url.ts';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import styles from './agents.module.css';
import {
  CreateRegistrationToken,
  DeleteRegistrationToken,
  RegistrationTokens as RegistrationTokenList,
} from './documents.ts';
import { agentMessages } from './messages.ts';

type Settings = AdmissionQuery['serviceSettings'];

const dayMs = 86_400_000;
const maxUses = 1_000;

/** The tokens with which programs register applications. */
export function RegistrationTokens({ settings }: { settings: Settings }) {
  const t = useMessages(agentMessages);
  const canWrite = useCan('applications:write');
  const { dynamic } = settings.clientRegistration;
  return (
    <Section title={t.tokens} about={t.tokensAbout} action={canWrite && <CreateToken />}>
      {dynamic !== 'INITIAL_ACCESS_TOKEN' && <Notice>{t.tokensUnused[dynamic]}</Notice>}
      <Properties>
        <Property name={t.endpoint}>
          <CopyId id={registrationUrl} thing={t.endpoint} />
        </Property>
      </Properties>
      <List
        label={t.tokens}
        hasSearch={false}
        page="tokens"
        document={RegistrationTokenList}
        variables={(address) => pageIn(address, 'tokens')}
        connection={({ registrationTokens }) => registrationTokens}
        columns={[
          { id: 'id', header: t.tokenId, cell: ({ id }) => <code>{id}</code> },
          {
            id: 'uses',
            header: t.uses,
            isNarrow: true,
            cell: ({ uses, maxUses: most }) => t.usesOf(uses, most),
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
            cell: ({ id }) =>
              canWrite && (
                <ConfirmAction
                  label={t.deleteToken}
                  title={t.deleteTokenTitle}
                  text={t.deleteTokenText}
                  document={DeleteRegistrationToken}
                  input={{ id }}
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

function CreateToken() {
  const t = useMessages(agentMessages);
  const texts = useMessages(formMessages);
  return (
    <ShownOnceAction
      label={t.createToken}
      form={(onDone, onCancel) => (
        <ActionForm
          document={CreateRegistrationToken}
          schema={z.object({
            expiresAt: z.string().check(z.minLength(1, texts.required)),
            maxUses: z.int(t.wholeUses).check(z.gte(1, t.wholeUses), z.lte(maxUses, t.wholeUses)),
          })}
          values={{ expiresAt: inLocalTime(new Date(Date.now() + 7 * dayMs)), maxUses: 1 }}
          toInput={(values) => ({
            ...values,
            expiresAt: values.expiresAt && new Date(values.expiresAt).toISOString(),
          })}
          onDone={({ token }) => onDone(token)}
          submit={t.createToken}
          onCancel={onCancel}
        >
          <TextField name="maxUses" type="number" label={t.maxUses} hint={t.maxUsesHint} hasFocus />
          <TextField name="expiresAt" type="datetime-local" label={t.expires} />
        </ActionForm>
      )}
      shown={(token) => <TokenOnce token={token} />}
    />
  );
}

function TokenOnce({ token }: { token: string }) {
  const t = useMessages(agentMessages);
  return (
    <div className={styles.once}>
      <Notice tone="warn" title={t.tokenTitle}>
        {t.tokenText}
      </Notice>
      <div>
        <p className={styles.label}>{t.token}</p>
        <CopyBlock label={t.token} text={token} />
      </div>
      <div>
        <p className={styles.label}>{t.command}</p>
        <CopyBlock label={t.command} text={registration} />
      </div>
    </div>
  );
}

const registrationUrl = `${serviceUrl}/oidc/register`;
const registration = `curl -s ${quoted(registrationUrl)} -H "Authorization: Bearer $REGISTRATION_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{ "client_name": "Example Agent", "application_type": "native",
        "redirect_uris": ["http://127.0.0.1/callback"] }'`;
