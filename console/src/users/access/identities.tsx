import { CopyId } from '../../controls/copy.tsx';
import { Time } from '../../controls/time.tsx';
import { ConfirmAction } from '../../dialogs/confirm-action.tsx';
import { toast } from '../../dialogs/toasts.ts';
import { useMessages } from '../../language/language.ts';
import { List, pageIn } from '../../lists/list-page.tsx';
import { Section } from '../../records/section.tsx';
import { useCan } from '../../session/session.ts';
import styles from '../users.module.css';
import { DeleteUserIdentity, UserIdentities } from './documents.ts';
import { accessMessages } from './messages.ts';

/** The accounts elsewhere that sign a user in. */
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
