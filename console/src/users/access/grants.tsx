import { RecordLink } from '../../events/parts.tsx';
import { Badge } from '../../kit/controls/badge.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import styles from '../users.module.css';
import { RevokeUserGrant, UserGrants } from './documents.ts';
import { accessMessages } from './messages.ts';

/** The access that a user has given to third-party applications. */
export function Grants({ id }: { id: string }) {
  const t = useMessages(accessMessages);
  const canWrite = useCan('users:write');
  return (
    <Section title={t.grants} about={t.grantsAbout}>
      <List
        label={t.grants}
        hasSearch={false}
        page="grants"
        document={UserGrants}
        variables={(address) => ({ id, ...pageIn(address, 'grants') })}
        connection={({ user }) => user?.grants}
        columns={[
          {
            id: 'application',
            header: t.application,
            cell: ({ application }) =>
              application ? (
                <RecordLink id={application.id}>{application.name}</RecordLink>
              ) : (
                <span className={styles.about}>{t.hidden}</span>
              ),
          },
          {
            id: 'scopes',
            header: t.scopes,
            from: 'medium',
            cell: ({ scopes }) => (
              <span className={styles.chips}>
                {scopes.map((scope) => (
                  <Badge key={scope}>{scope}</Badge>
                ))}
              </span>
            ),
          },
          {
            id: 'since',
            header: t.since,
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'revoke',
            header: '',
            isNarrow: true,
            cell: (grant) =>
              canWrite && (
                <ConfirmAction
                  label={t.revoke}
                  title={t.revokeTitle(grant.application?.name ?? grant.id)}
                  text={t.revokeText}
                  document={RevokeUserGrant}
                  input={{ userId: id, grantId: grant.id }}
                  onDone={() => toast.done(t.revoked)}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noGrants}</p>}
      />
    </Section>
  );
}
