import { CopyId } from '../../kit/controls/copy.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import styles from '../users.module.css';
import { DeleteUserIdentity, UserIdentities } from './documents.ts';
import { accessMessages } from './messages.ts';

/** The accounts at identity providers that sign a user in. */
export function Identities({ id }: { id: string }) {
  const t = useMessages(accessMessages);
  const canWrite = useCan('users:write');
  return (
    <Section title={t.identities} about={t.identitiesAbout}>
      <List
        label={t.identities}
        hasSearch={false}
        page="identities"
        document={UserIdentities}
        variables={(address) => ({ id, ...pageIn(address, 'identities') })}
        connection={({ user }) => user?.identities}
        columns={[
          { id: 'provider', header: t.provider, cell: ({ provider }) => provider.name },
          {
            id: 'account',
            header: t.account,
            cell: ({ email, subject }) => (
              <span className={styles.stack}>
                {email}
                <CopyId id={subject} thing="sub" />
              </span>
            ),
          },
          {
            id: 'linkedAt',
            header: t.linkedAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ linkedAt }) => <Time at={linkedAt} />,
          },
          {
            id: 'unlink',
            header: '',
            isNarrow: true,
            cell: (identity) =>
              canWrite && (
                <ConfirmAction
                  label={t.unlink}
                  title={t.unlinkTitle(identity.provider.name)}
                  text={t.unlinkText}
                  document={DeleteUserIdentity}
                  input={{ userId: id, identityId: identity.id }}
                  onDone={() => toast.done(t.unlinked)}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noIdentities}</p>}
      />
    </Section>
  );
}
