import { Link } from '@tanstack/react-router';
import type { HealthQuery } from '../generated/graphql.ts';
import { useData } from '../kit/api/use-data.ts';
import { Notice } from '../kit/controls/notice.tsx';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { useCan } from '../kit/session/session.ts';
import { Health } from './documents.ts';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';

const dayMs = 86_400_000;
const oldKeyMs = 365 * dayMs;

/** Something to look after, and where. */
interface Trouble {
  readonly key: string;
  readonly text: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

/** One line that says whether all is well, or each thing that is not, as far as the person may see it. */
export function HealthLine() {
  const t = useMessages(overviewMessages);
  const sees = {
    webhooks: useCan('webhooks:read'),
    experience: useCan('experience:read'),
    events: useCan('events:read'),
    all: useCan('all'),
  };
  const { data } = useData(Health, sees, { pause: !Object.values(sees).some(Boolean) });
  const troubles = useTroubles(data);
  if (!data) return null;
  if (troubles.length === 0)
    return (
      <div className={styles.health} role="status">
        <Notice tone="good" title={t.health.well} />
      </div>
    );
  return (
    <div className={styles.health} role="status">
      <Notice tone="warn" title={t.health.troubles(troubles.length)}>
        <ul className={styles.troubles}>
          {troubles.map(({ key, text, to, search = {} }) => (
            <li key={key}>
              <Link to={to} search={search}>
                {text}
              </Link>
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}

function useTroubles(data: HealthQuery | undefined): readonly Trouble[] {
  const { health: t } = useMessages(overviewMessages);
  const format = useFormat();
  if (!data) return [];
  const now = Date.now();
  const failing = (data.webhooks?.edges ?? []).flatMap(({ node: { id, name, failingSince } }) =>
    failingSince ? [{ id, name, since: failingSince }] : [],
  );
  const locked = (data.events?.edges ?? []).filter(
    ({ node }) => now - Date.parse(node.occurredAt) < dayMs,
  );
  const [current] = (data.signingKeys?.edges ?? []).filter(({ node }) => node.retiredAt == null);
  const differing = (data.service?.nodes ?? []).filter(({ differsIn }) => differsIn.length > 0);
  const secret = data.service?.previousSecret;
  return [
    ...failing.map(({ id, name, since }) => ({
      key: id,
      text: t.failing(name, format.soon(since)),
      to: `/webhooks/${id}`,
    })),
    ...(locked.length > 0
      ? [
          {
            key: 'locked',
            text: t.locked(locked.length),
            to: '/events',
            search: { types: 'IDENTIFIER_LOCKOUT' },
          },
        ]
      : []),
    ...(current && now - Date.parse(current.node.createdAt) > oldKeyMs
      ? [{ key: 'key', text: t.oldKey(format.ago(current.node.createdAt)), to: '/keys' }]
      : []),
    ...(data.messageSenders && !data.messageSenders.some(({ channel }) => channel === 'EMAIL')
      ? [
          {
            key: 'sender',
            text: t.noSender,
            to: '/sign-in-experience',
            search: { tab: 'messages' },
          },
        ]
      : []),
    ...(differing.length > 0
      ? [
          {
            key: 'nodes',
            text: t.differing(format.list(differing.map(({ name }) => name))),
            to: '/',
          },
        ]
      : []),
    ...(secret === 'NO_LONGER_NEEDED'
      ? [{ key: 'secret', text: t.oldSecret, to: '/settings' }]
      : secret === 'RE_ENCRYPTING'
        ? [{ key: 'secret', text: t.secretNeeded, to: '/settings' }]
        : []),
  ];
}
