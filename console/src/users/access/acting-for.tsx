import { EventActor } from '../../events/parts.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { Section } from '../../kit/records/section.tsx';
import styles from '../users.module.css';
import { SubjectTokens } from './documents.ts';
import { accessMessages } from './messages.ts';

/** Who acted for a user through an application, and why. */
export function ActingFor({ id }: { id: string }) {
  const t = useMessages(accessMessages);
  return (
    <Section title={t.acting} about={t.actingAbout}>
      <List
        label={t.acting}
        hasSearch={false}
        page="acting"
        document={SubjectTokens}
        variables={(address) => ({ id, ...pageIn(address, 'acting') })}
        connection={({ user }) => user?.subjectTokens}
        columns={[
          { id: 'reason', header: t.reason, cell: ({ reason }) => reason },
          { id: 'agent', header: t.agent, cell: ({ actor }) => <EventActor actor={actor} /> },
          {
            id: 'exchanged',
            header: t.exchanged,
            from: 'medium',
            cell: ({ usedById }) =>
              usedById ? (
                <EventActor actor={{ type: 'APPLICATION', id: usedById, clientId: null }} />
              ) : (
                t.notUsed
              ),
          },
          {
            id: 'at',
            header: t.at,
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
        ]}
        empty={<p className={styles.about}>{t.noActing}</p>}
      />
    </Section>
  );
}
