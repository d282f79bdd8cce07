import { Time } from '../controls/time.tsx';
import { ConfirmAction } from '../dialogs/confirm-action.tsx';
import { toast } from '../dialogs/toasts.ts';
import { useMessages } from '../language/language.ts';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { DeleteUserFactor, UserFactors } from './documents.ts';
import { userMessages } from './messages.ts';

/** What a user shows at a sign-in beside the password. */
export function FactorsTab({ id }: { id: string }) {
  const t = useMessages(userMessages);
  const canWrite = useCan('users:write');
  return (
    <Section title={t.tabs.factors} about={t.factorsAbout}>
      <List
        label={t.tabs.factors}
        hasSearch={false}
        document={UserFactors}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ user }) => user?.factors}
        columns={[
          {
            id: 'type',
            header: t.factor,
            cell: ({ type, name, remaining }) => (
              <>
                {t.factorNames[type]}
                {name !== null && ` · ${name}`}
                {remaining !== null && ` · ${t.codesLeft(remaining)}`}
              </>
            ),
          },
          {
            id: 'lastUsed',
            header: t.lastUsed,
            isNarrow: true,
            cell: ({ lastUsedAt }) =>
              lastUsedAt === null ? t.neverUsed : <Time at={lastUsedAt} as="ago" />,
          },
          {
            id: 'addedAt',
            header: t.addedAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'delete',
            header: '',
            isNarrow: true,
            cell: (factor) =>
              canWrite && (
                <ConfirmAction
                  label={t.deleteFactor}
                  title={t.deleteFactorTitle(t.factorNames[factor.type])}
                  text={t.deleteFactorText}
                  document={DeleteUserFactor}
                  input={{ userId: id, factorId: factor.id }}
                  onDone={() => toast.done(t.factorDeleted)}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={
          <EmptyState icon="keys" title={t.factorsTitle}>
            {t.factorsText}
          </EmptyState>
        }
      />
    </Section>
  );
}
