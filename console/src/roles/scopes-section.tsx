import { Link } from '@tanstack/react-router';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { toast } from '../dialogs/toasts.ts';
import { useMessages } from '../language/language.ts';
import { List, pageIn } from '../lists/list-page.tsx';
import { searchApiScopes } from '../records/search-api-scopes.ts';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { AddRoleScopes, RemoveRoleScope, RoleScopes } from './documents.ts';
import { roleMessages } from './messages.ts';

/** The scopes that a role holds; they are added and removed at once. */
export function RoleScopesSection({ roleId }: { roleId: string }) {
  const t = useMessages(roleMessages);
  const canWrite = useCan('roles:write');
  const seesApis = useCan('resources:read');
  const canAdd = canWrite && seesApis;
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
              seesApis ? (
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
