import { Link } from '@tanstack/react-router';
import type { UpdateApplicationInput } from '../generated/graphql.ts';
import { useAddress } from '../kit/address.ts';
import { send } from '../kit/api/send.ts';
import { useAction } from '../kit/api/use-action.ts';
import { useData } from '../kit/api/use-data.ts';
import { CopyBlock } from '../kit/controls/copy.tsx';
import { CopyAs, quoted } from '../kit/controls/copy-as.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { Switch } from '../kit/controls/switch.tsx';
import { PickAction } from '../kit/dialogs/pick-action.tsx';
import { RemoveAction } from '../kit/dialogs/remove-action.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { serviceUrl } from '../kit/service-url.ts';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { ExplainExchange } from '../permissions/explanation/explain-exchange.tsx';
import { explanationMessages } from '../permissions/explanation/messages.ts';
import { useMayAsk } from '../permissions/may-ask.ts';
import styles from './applications.module.css';
import { SearchResources, UpdateApplication } from './documents.ts';
import { applicationMessages } from './messages.ts';
import type { ShownApplication } from './types.ts';
import { keepsSecret } from './types.ts';

/** Whether the application may exchange tokens, for which APIs, and a command that does it. */
export function TokenExchange({ application }: { application: ShownApplication }) {
  const t = useMessages(applicationMessages);
  if (!keepsSecret(application.type))
    return (
      <Section title={t.exchange} about={t.exchangeAbout}>
        <Notice>{application.type === 'SPA' ? t.notForSpa : t.notForNative}</Notice>
      </Section>
    );
  return <Exchange application={application} />;
}

function Exchange({ application }: { application: ShownApplication }) {
  const t = useMessages(applicationMessages);
  const canWrite = useCan('applications:write');
  const { run, isRunning } = useAction(UpdateApplication);
  const { id, allowTokenExchange, exchangeResources, exchangeSubjectAudiences } = application;
  const { allowImpersonation, allowPersonalAccessTokens, exchangeThirdPartySubjectTokens } =
    application;
  const change = async (changes: Partial<ShownApplication>, done?: string) => {
    const outcome = await run({ id, ...changes });
    if (outcome.kind === 'refused') toast.failed(outcome.refusal.issues[0]?.message ?? '');
    if (outcome.kind === 'done' && done) toast.done(done);
  };
  const hasLiveSecret = application.secrets.edges.some(
    ({ node: { expiresAt } }) => !expiresAt || Date.parse(expiresAt) > Date.now(),
  );
  return (
    <Section
      title={t.exchange}
      about={t.exchangeAbout}
      action={
        canWrite && (
          <CopyAs
            document={UpdateApplication}
            input={{
              id,
              allowTokenExchange,
              exchangeSubjectAudiences,
              exchangeResources,
              exchangeThirdPartySubjectTokens,
              allowImpersonation,
              allowPersonalAccessTokens,
            }}
          />
        )
      }
    >
      <Switch
        label={t.allowExchange}
        description={t.allowExchangeText}
        isOn={allowTokenExchange}
        isDisabled={!canWrite || isRunning}
        onChange={(isOn) =>
          change({ allowTokenExchange: isOn }, isOn ? t.exchangeOn : t.exchangeOff)
        }
      />
      {allowTokenExchange && (
        <>
          {!hasLiveSecret && !application.keys && (
            <Notice tone="warn">{t.noSecretForExchange}</Notice>
          )}
          <Switch
            label={t.allowImpersonation}
            description={t.allowImpersonationText}
            isOn={allowImpersonation}
            isDisabled={!canWrite || isRunning}
            onChange={(isOn) =>
              change({ allowImpersonation: isOn }, isOn ? t.impersonationOn : t.impersonationOff)
            }
          />
          <Switch
            label={t.allowPersonal}
            description={t.allowPersonalText}
            isOn={allowPersonalAccessTokens}
            isDisabled={!canWrite || isRunning}
            onChange={(isOn) =>
              change({ allowPersonalAccessTokens: isOn }, isOn ? t.personalOn : t.personalOff)
            }
          />
          <Switch
            label={t.allowThirdPartyTokens}
            description={t.allowThirdPartyTokensText}
            isOn={exchangeThirdPartySubjectTokens}
            isDisabled={!canWrite || isRunning}
            onChange={(isOn) =>
              change(
                { exchangeThirdPartySubjectTokens: isOn },
                isOn ? t.thirdPartyTokensOn : t.thirdPartyTokensOff,
              )
            }
          />
          <Apis
            title={t.audiences}
            about={t.audiencesText}
            add={t.addAudience}
            indicators={exchangeSubjectAudiences}
            input={(indicators) => ({ id, exchangeSubjectAudiences: indicators })}
            isReadOnly={!canWrite}
          />
          <Apis
            title={t.targets}
            about={t.targetsText}
            add={t.addTarget}
            indicators={exchangeResources}
            input={(indicators) => ({ id, exchangeResources: indicators })}
            isReadOnly={!canWrite}
          />
          <TryIt application={application} />
        </>
      )}
      <Explanation applicationId={id} />
    </Section>
  );
}

function Explanation({ applicationId }: { applicationId: string }) {
  const t = useMessages(explanationMessages);
  const { user, resource, organization, token, client } = useAddress().address;
  if (!useMayAsk()) return null;
  return (
    <div className={styles.apis}>
      <h3>{t.title}</h3>
      <p className={styles.about}>{t.about}</p>
      <ExplainExchange applicationId={applicationId} />
      <p className={styles.about}>
        <Link
          to="/explain"
          search={{ application: applicationId, user, resource, organization, token, client }}
        >
          {t.openPage}
        </Link>
      </p>
    </div>
  );
}

function Apis({
  title,
  about,
  add,
  indicators,
  input,
  isReadOnly,
}: {
  title: string;
  about: string;
  add: string;
  indicators: string[];
  input: (indicators: string[]) => UpdateApplicationInput;
  isReadOnly: boolean;
}) {
  const t = useMessages(applicationMessages);
  const canReadApis = useCan('resources:read');
  return (
    <div className={styles.apis}>
      <h3>{title}</h3>
      <p className={styles.about}>{about}</p>
      {indicators.length > 0 ? (
        <ul className={styles.chips} aria-label={title}>
          {indicators.map((indicator) => (
            <li key={indicator} className={styles.chip}>
              <code>{indicator}</code>
              {!isReadOnly && (
                <RemoveAction
                  label={t.removeApi(indicator)}
                  document={UpdateApplication}
                  input={input(indicators.filter((one) => one !== indicator))}
                />
              )}
            </li>
          ))}
        </ul>
      ) : (
        <p className={styles.any}>{t.anyApi}</p>
      )}
      {!isReadOnly && canReadApis && (
        <PickAction
          label={add}
          search={async (search, signal) => {
            const { resources } = await send(SearchResources, { search }, signal);
            return resources.edges
              .map(({ node }) => ({ key: node.indicator, text: node.name, detail: node.indicator }))
              .filter(({ key }) => !indicators.includes(key));
          }}
          document={UpdateApplication}
          input={(key) => input([...indicators, key])}
        />
      )}
    </div>
  );
}

function TryIt({ application }: { application: ShownApplication }) {
  const t = useMessages(applicationMessages);
  const canReadApis = useCan('resources:read');
  const { data } = useData(SearchResources, {}, { pause: !canReadApis });
  const own = data?.resources.edges.find(({ node }) => !node.indicator.startsWith('urn:signet:'));
  const resource =
    application.exchangeResources[0] ?? own?.node.indicator ?? 'https://orders.example.com';
  return (
    <div className={styles.apis}>
      <h3>{t.tryIt}</h3>
      <p className={styles.about}>{t.tryItText}</p>
      <CopyBlock label={t.curlLabel} text={exchangeCommand(application.id, resource)} />
    </div>
  );
}

const exchangeCommand = (clientId: string, resource: string): string =>
  `curl -s ${quoted(`${serviceUrl}/oidc/token`)} -u "${clientId}:$CLIENT_SECRET" \\
  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\
  -d "subject_token=$SUBJECT_TOKEN" \\
  -d subject_token_type=urn:ietf:params:oauth:token-type:access_token \\
  --data-urlencode ${quoted(`resource=${resource}`)}`;
