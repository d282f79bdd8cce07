import { recordOf, type ScopeReference } from '../events/catalogue/records.ts';
import type { RecordKind } from '../events/record.ts';
import type { Resource, Scope } from '../generated/prisma/client.ts';

/** A resource as events show it. */
export const resourceRecord = (resource: Resource) => recordOf('Resource', resource);

/** Resources, whose updates are events. */
export const resources: RecordKind<'Resource.Data.Updated', Resource> = {
  updated: 'Resource.Data.Updated',
  shown: resourceRecord,
  write: (tx, id, data) => tx.resource.update({ where: { id }, data }),
};

/** A scope as events show it. */
export const scopeRecord = (scope: Scope) => recordOf('Scope', scope);

/** A scope as events about roles show it. */
export const scopeReference = ({ id, name, resourceId }: Scope): ScopeReference => ({
  id,
  name,
  resourceId,
});

/** Scopes, whose updates are events. */
export const scopes: RecordKind<'Scope.Data.Updated', Scope> = {
  updated: 'Scope.Data.Updated',
  shown: scopeRecord,
  write: (tx, id, data) => tx.scope.update({ where: { id }, data }),
};
