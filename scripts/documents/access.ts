import { type ManagementScope, managementScopes } from '../../src/auth/scopes.ts';
import { restOperations } from '../../src/rest/mount.ts';
import { code, codes, table } from './markdown.ts';

/** Every scope of the management API, with the operations that require it. */
export function scopesTable(): string {
  const operations = new Map<string, Set<string>>();
  for (const { scopes, route } of restOperations) {
    // A list within a record requires the scopes of both.
    const name = [route.operation, route.list].filter(Boolean).join('.');
    for (const scope of scopes) {
      operations.set(scope, (operations.get(scope) ?? new Set<string>()).add(name));
    }
  }
  return table(
    ['scope', 'allows', 'operations'],
    [...managementScopes].map(([scope, allows]: [ManagementScope, string]) => [
      code(scope),
      allows,
      codes([...(operations.get(scope) ?? [])].sort()) || '',
    ]),
  );
}
