import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { toast } from '../dialogs/toasts.ts';
import { useMessages } from '../language/language.ts';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { AddRoleScopes, RemoveRoleScope, RoleScopes, SearchScopes } from './documents.ts';
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
          search={searchScopes}
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

const shown = 30;

// The API finds APIs, not scopes: those of the APIs found come first, then scopes of other APIs that fit by their name.
async function searchScopes(search: string, signal: AbortSignal) {
  const { found, others } = await send(SearchScopes, { search }, signal);
  const scopesOf = ({ edges }: typeof found) =>
    edges.flatMap(({ node: api }) =>
      api.scopes.edges.map(({ node }) => ({ key: node.id, text: node.name, detail: api.name })),
    );
  const typed = search.toLowerCase();
  const byName = scopesOf(others).filter(({ text }) => text.toLowerCase().includes(typed));
  const all = new Map([...byName, ...scopesOf(found)].map((scope) => [scope.key, scope]));
  return [...all.values()].slice(0, shown);
}
