import type { ScopeRecord, ScopeReference } from '../events/records.ts';
import type { Scope } from '../generated/prisma/client.ts';

/** A scope as events show it. */
export const scopeRecord = (scope: Scope): ScopeRecord => ({
  id: scope.id,
  resourceId: scope.resourceId,
  name: scope.name,
  description: scope.description,
  createdAt: scope.createdAt.toISOString(),
  updatedAt: scope.updatedAt.toISOString(),
});

/** A scope as events about roles show it. */
export const scopeReference = ({ id, name, resourceId }: Scope): ScopeReference => ({
  id,
  name,
  resourceId,
});
