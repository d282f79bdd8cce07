import { Link } from '@tanstack/react-router';
import { PickAction } from '../kit/dialogs/pick-action.tsx';
import { RemoveAction } from '../kit/dialogs/remove-action.tsx';
import { useMessages } from '../kit/language/language.ts';
import { List, pageIn } from '../kit/lists/list-page.tsx';
import { searchApiScopes } from '../kit/records/search-api-scopes.ts';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { EmptyState } from '../kit/states/state.tsx';
import { toast } from '../kit/toasts.ts';
import { AddRoleScopes, RemoveRoleScope, RoleScopes } from './documents.ts';
import { roleMessages } from './messages.ts';

/** The scopes of a role. Each change applies at once. */
export function RoleScopesSection({ roleId }: { roleId: string }) {
  const t = useMessages(roleMessages);
  const canWrite = useCan('roles:write');
  const canReadApis = useCan('resources:read');
  const canAdd = canWrite && canReadApis;
  return (
    <Section title={t.scopes} about={t.scopesAbout}>
      {canAdd && (
        <PickAction
          label={t.addScope}
          placeholder={t.addScopePlaceholder}
          search={searchApiScopes}
          document={AddRoleScopes}
          input={(key) => ({ roleId, scopeIds: [key] })}
          onDone={({ text }) => toast.done(t.added(text))}
        />
      )}
      <List
        label={t.scopes}
        document={RoleScopes}
        variables={(address) => ({ id: roleId, ...pageIn(address) })}
        connection={({ role }) => role?.scopes}
        hasSearch={false}
        columns={[
          { id: 'name', header: t.scope, cell: ({ name }) => <code>{name}</code> },
          {
            id: 'api',
            header: t.api,
            cell: ({ resource }) =>
              canReadApis ? (
                <Link to="/apis/$id" params={{ id: resource.id }}>
                  {resource.name}
                </Link>
              ) : (
                resource.name
              ),
          },
          {
            id: 'description',
            header: t.description,
            from: 'wide',
            cell: ({ description }) => description,
          },
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: ({ id, name }) =>
              canWrite && (
                <RemoveAction
                  label={t.removeScope(name)}
                  document={RemoveRoleScope}
                  input={{ roleId, scopeId: id }}
                  onDone={() => toast.done(t.removed(name))}
                />
              ),
          },
        ]}
        empty={
          <EmptyState icon="roles" title={t.noScopesTitle}>
            {canAdd ? t.noScopesText : t.noScopesReadOnly}
          </EmptyState>
        }
      />
    </Section>
  );
}
