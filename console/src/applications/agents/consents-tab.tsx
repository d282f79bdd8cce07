import type { ApplicationOrigin } from '../../generated/graphql.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { aboveRowLink } from '../../kit/lists/data-table.tsx';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { RowLink } from '../../kit/lists/row-link.tsx';
import { Section } from '../../kit/records/section.tsx';
import { shownName } from '../../kit/records/shown-name.ts';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import styles from './agents.module.css';
import { ApplicationGrants, RevokeApplicationGrant } from './documents.ts';
import { agentMessages } from './messages.ts';

/** What people have allowed an application. */
export function ConsentsTab({ id, origin }: { id: string; origin: ApplicationOrigin }) {
  const t = useMessages(agentMessages);
  const canWrite = useCan('users:write');
  return (
    <Section title={t.consents} about={t.consentsAbout}>
      <List
        label={t.consents}
        hasSearch={false}
        document={ApplicationGrants}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ application }) => application?.grants}
        columns={[
          {
            id: 'user',
            header: t.person,
            cell: ({ user }) => (
              <RowLink to="/users/$id" id={user.id}>
                {shownName(user)}
              </RowLink>
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
            id: 'lastUsed',
            header: t.lastUsed,
            isNarrow: true,
            from: 'medium',
            cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} as="ago" /> : t.never),
          },
          {
            id: 'since',
            header: t.allowed,
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
                <span className={aboveRowLink}>
                  <ConfirmAction
                    label={t.revoke}
                    title={t.revokeTitle(shownName(grant.user))}
                    text={t.revokeText}
                    document={RevokeApplicationGrant}
                    input={{ userId: grant.user.id, grantId: grant.id }}
                    onDone={() => toast.done(t.revoked)}
                    kind="danger"
                    size="small"
                  />
                </span>
              ),
          },
        ]}
        empty={
          <p className={styles.about}>
            {origin === 'ADMINISTRATION' ? t.noConsents : t.noConsentsYet}
          </p>
        }
      />
    </Section>
  );
}
