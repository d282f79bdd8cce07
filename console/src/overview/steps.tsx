import { Link } from '@tanstack/react-router';
import type { SetUpQuery } from '../generated/graphql.ts';
import { useData } from '../kit/api/use-data.ts';
import { Icon } from '../kit/controls/icon.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { Failed } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { SetUp } from './documents.ts';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';

interface Step {
  readonly to: string;
  /** The tab of the page. */
  readonly tab?: string;
  readonly name: string;
  readonly text: string;
  readonly isSeen: boolean;
  /** Whether the person may do it; then the link opens the creation dialog. */
  readonly canCreate?: boolean;
  readonly isDone: (data: SetUpQuery) => boolean;
}

/** Set-up checklist. */
export function Steps() {
  const t = useMessages(overviewMessages);
  const canRead = {
    users: useCan('users:read'),
    resources: useCan('resources:read'),
    applications: useCan('applications:read'),
    webhooks: useCan('webhooks:read'),
    experience: useCan('experience:read'),
  };
  const canWrite = {
    users: useCan('users:write'),
    resources: useCan('resources:write'),
    applications: useCan('applications:write'),
    webhooks: useCan('webhooks:write'),
  };
  const canReadAny = Object.values(canRead).some(Boolean);
  const { data, error, refetch } = useData(SetUp, canRead, { pause: !canReadAny });
  if (!canReadAny) return null;
  const all: readonly Step[] = [
    {
      to: '/apis',
      name: t.steps.api,
      text: t.steps.apiText,
      isSeen: canRead.resources,
      canCreate: canWrite.resources,
      isDone: ({ resources }) =>
        resources?.edges.some(({ node }) => !node.indicator.startsWith('urn:signet:')) ?? false,
    },
    {
      to: '/applications',
      name: t.steps.application,
      text: t.steps.applicationText,
      isSeen: canRead.applications,
      canCreate: canWrite.applications,
      isDone: ({ applications }) =>
        applications?.edges.some(({ node }) => !isOfSignet(node)) ?? false,
    },
    {
      to: '/sign-in-experience',
      tab: 'messages',
      name: t.steps.sender,
      text: t.steps.senderText,
      isSeen: canRead.experience,
      isDone: ({ messageSenders }) =>
        messageSenders?.some(({ channel }) => channel === 'EMAIL') ?? false,
    },
    {
      to: '/users',
      name: t.steps.people,
      text: t.steps.peopleText,
      isSeen: canRead.users,
      canCreate: canWrite.users,
      // The first one is the administrator.
      isDone: ({ users }) => (users?.edges.length ?? 0) > 1,
    },
    {
      to: '/webhooks',
      name: t.steps.webhook,
      text: t.steps.webhookText,
      isSeen: canRead.webhooks,
      canCreate: canWrite.webhooks,
      isDone: ({ webhooks }) => (webhooks?.edges.length ?? 0) > 0,
    },
  ];
  const steps = all.filter(({ isSeen }) => isSeen);
  const done = data ? steps.filter(({ isDone }) => isDone(data)).length : 0;
  return (
    <Section
      title={t.setUp}
      about={data && (done === all.length ? t.allDone : t.setUpAbout(done, steps.length))}
    >
      {error && !data && <Failed error={error} onRetry={refetch} />}
      {!error && !data && <Loading lines={4} />}
      {data && (
        <ol className={styles.steps}>
          {steps.map(({ to, tab, name, text, canCreate, isDone }) => {
            const isOver = isDone(data);
            return (
              <li key={to} className={styles.step} data-done={isOver || undefined}>
                <span className={styles.mark}>
                  {isOver && <Icon name="check" size={12} />}
                  <span className="visually-hidden">{isOver ? t.isDone : t.isOpen}</span>
                </span>
                <span>
                  {isOver ? (
                    <span className={styles.stepName}>{name}</span>
                  ) : (
                    <Link
                      to={to}
                      search={{ ...(canCreate && { create: 'true' }), ...(tab && { tab }) }}
                      className={styles.stepName}
                    >
                      {name}
                    </Link>
                  )}
                  {!isOver && <span className={styles.stepText}> {text}</span>}
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </Section>
  );
}

/** Whether Signet created an application itself: for the first administrator, for the console or for accounts. */
const isOfSignet = ({ id, name }: { id: string; name: string }) =>
  name === 'Signet administrator' || id.startsWith('app_000000000000000000');
