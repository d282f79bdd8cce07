import { Time } from '../kit/controls/time.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { useMessages } from '../kit/language/language.ts';
import { List, pageIn } from '../kit/lists/list-page.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { EmptyState } from '../kit/states/state.tsx';
import { toast } from '../kit/toasts.ts';
import { DeleteUserFactor, UserFactors } from './documents.ts';
import { userMessages } from './messages.ts';

/** The second factors of a user. */
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
