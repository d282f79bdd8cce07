import { Link } from '@tanstack/react-router';
import { useData } from '../api/use-data.ts';
import { Icon } from '../controls/icon.tsx';
import type { SetUpQuery } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { SetUp } from './documents.ts';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';

interface Step {
  readonly to: string;
  readonly name: string;
  readonly text: string;
  readonly isSeen: boolean;
  /** Whether the person may take it; then the link opens the dialog of creation. */
  readonly canCreate?: boolean;
  readonly isDone: (data: SetUpQuery) => boolean;
}

/** What is left to set up. */
export function Steps() {
  const t = useMessages(overviewMessages);
  const sees = {
    users: useCan('users:read'),
    resources: useCan('resources:read'),
    applications: useCan('applications:read'),
    webhooks: useCan('webhooks:read'),
    experience: useCan('experience:read'),
  };
  const creates = {
    users: useCan('users:write'),
    resources: useCan('resources:write'),
    applications: useCan('applications:write'),
    webhooks: useCan('webhooks:write'),
  };
  const seesOne = Object.values(sees).some(Boolean);
  const { data, error, askAgain } = useData(SetUp, sees, { pause: !seesOne });
  if (!seesOne) return null;
  const all: readonly Step[] = [
    {
      to: '/apis',
      name: t.steps.api,
      text: t.steps.apiText,
      isSeen: sees.resources,
      canCreate: creates.resources,
      isDone: ({ resources }) =>
        resources?.edges.some(({ node }) => !node.indicator.startsWith('urn:signet:')) ?? false,
    },
    {
      to: '/applications',
      name: t.steps.application,
      text: t.steps.applicationText,
      isSeen: sees.applications,
      canCreate: creates.applications,
      isDone: ({ applications }) =>
        applications?.edges.some(({ node }) => !isOfSignet(node)) ?? false,
    },
    {
      to: '/sign-in-experience',
      name: t.steps.sender,
      text: t.steps.senderText,
      isSeen: sees.experience,
      isDone: ({ messageSenders }) =>
        messageSenders?.some(({ channel }) => channel === 'EMAIL') ?? false,
    },
    {
      to: '/users',
      name: t.steps.people,
      text: t.steps.peopleText,
      isSeen: sees.users,
      canCreate: creates.users,
      // The first one is the administrator.
      isDone: ({ users }) => (users?.edges.length ?? 0) > 1,
    },
    {
      to: '/webhooks',
      name: t.steps.webhook,
      text: t.steps.webhookText,
      isSeen: sees.webhooks,
      canCreate: creates.webhooks,
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
      {error && !data && <Failed error={error} onRetry={askAgain} />}
      {!error && !data && <Loading lines={4} />}
      {data && (
        <ol className={styles.steps}>
          {steps.map(({ to, name, text, canCreate, isDone }) => {
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
                      search={canCreate ? { create: 'true' } : {}}
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

/** Whether Signet has made an application itself: for the first administrator, and for the console. */
const isOfSignet = ({ name, redirectUris }: { name: string; redirectUris: readonly string[] }) =>
  name === 'Signet administrator' || redirectUris.some((uri) => uri.endsWith('/console/callback'));
