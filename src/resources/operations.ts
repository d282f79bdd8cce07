import { z } from 'zod';
import { canonicalIndicator } from '../auth/indicators.ts';
import { isReservedIndicator, isVoidIndicator, ownIndicators } from '../auth/scopes.ts';
import { signingAlgorithms } from '../config.ts';
import { onceCommitted } from '../db/around.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import { type NewEvent, recordChange, recordEvent, recordEvents } from '../events/record.ts';
import type { Resource, Scope } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { composedText, fault, name, notNull, parseInput, text } from '../input.ts';
import { outliveTokens } from '../keys/signing-keys.ts';
import type { Context } from '../services.ts';
import { resourceRecord, resources, scopeRecord, scopeReference, scopes } from './payload.ts';
import { algorithmUntilThen, ensureSigningKey } from './signing-key.ts';
import { passSpelling, spellingKey } from './spellings.ts';

const absoluteUri = text(2048).refine(
  // RFC 8707 §2
  (value) => /^[a-z][a-z0-9+.-]*:[^\s#]+$/i.test(value) && URL.canParse(value),
  fault('INVALID_FORMAT', 'must be an absolute URI without a fragment'),
);

/** The indicator of a resource, of an organization or of one of Signet's own APIs, which need not exist. */
export const resourceIndicator = absoluteUri.refine(
  (value) => !isVoidIndicator(value),
  "begins with urn:signet: and is none of Signet's own",
);

const indicator = absoluteUri.refine(
  (value) => !isReservedIndicator(value),
  'must not begin with urn:signet:, in any letter case, which Signet keeps for itself',
);
/** The longest lifetime of an access token, in seconds. */
export const maxAccessTokenTtlSeconds = 2_592_000;

const ttl = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(maxAccessTokenTtlSeconds, `must be at most ${maxAccessTokenTtlSeconds}, which is 30 days`);

/** The input of `createResource`. */
export const createResourceInput = z.object({
  name: name(),
  indicator,
  accessTokenTtlSeconds: ttl.nullish(),
  signingAlg: z.enum(signingAlgorithms).nullish(),
});

const resourceConflicts = {
  Resource_indicator_key: { path: ['indicator'], message: 'Another resource has this indicator.' },
  [spellingKey]: {
    path: ['indicator'],
    message: 'Another resource has this indicator, in another spelling.',
  },
};

/**
 * Registers a resource: an API that access tokens can be issued for. Two spellings of one URI are one indicator. Raises
 * `Resource.Created`, and `SigningKey.Rotated` if there is no key of its algorithm: one is made.
 *
 * @throws {InvalidInputError} {@link ConflictError} on `indicator`.
 */
export async function createResource(
  context: Context,
  input: z.input<typeof createResourceInput>,
): Promise<Resource> {
  const { accessTokenTtlSeconds, ...values } = parseInput(createResourceInput, input);
  const now = context.clock.now();
  const created = await refuseConflict(resourceConflicts, () =>
    transaction(context.database, async (tx) => {
      await outliveTokens(tx, context, accessTokenTtlSeconds);
      await ensureSigningKey(tx, context, values.signingAlg);
      const resource = await tx.resource.create({
        data: {
          ...values,
          canonicalIndicator: canonicalIndicator(values.indicator),
          id: newId('Resource'),
          ...(accessTokenTtlSeconds == null ? {} : { accessTokenTtlSeconds }),
          createdAt: now,
          updatedAt: now,
        },
      });
      const told = await recordEvent(tx, context, 'Resource.Created', resourceRecord(resource));
      return told.with(resource);
    }),
  );
  if (values.signingAlg) await onceCommitted(() => context.keys.reload());
  return created;
}

const updateResourceInput = z.object({
  id: z.string(),
  name: notNull(name()),
  accessTokenTtlSeconds: ttl.nullish(),
  signingAlg: z.enum(signingAlgorithms).nullish(),
});
const defaultTtlSeconds = 3600;

/**
 * Changes a resource's name, the lifetime of its tokens or their algorithm. The indicator cannot change: tokens and
 * services use it. Raises `Resource.Data.Updated` if something changed, and `SigningKey.Rotated` if there is no key of
 * the algorithm: one is made. Until it signs, the tokens are signed as before.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link NotAllowedError} on a resource of Signet's own.
 */
export async function updateResource(
  context: Context,
  input: z.input<typeof updateResourceInput>,
): Promise<Resource> {
  const given = parseInput(updateResourceInput, input);
  const { id, accessTokenTtlSeconds, signingAlg } = given;
  const updated = await transaction(context.database, async (tx) => {
    const before = await lockOwnResource(tx, id);
    await outliveTokens(tx, context, accessTokenTtlSeconds);
    await ensureSigningKey(tx, context, signingAlg);
    const isOther = signingAlg !== undefined && signingAlg !== before.signingAlg;
    return recordChange(tx, context, resources, before, {
      name: given.name,
      accessTokenTtlSeconds:
        accessTokenTtlSeconds === null ? defaultTtlSeconds : accessTokenTtlSeconds,
      signingAlg,
      ...(isOther ? { signingAlgBefore: await algorithmUntilThen(tx, context, before) } : {}),
    });
  });
  if (signingAlg) await onceCommitted(() => context.keys.reload());
  return updated;
}

/**
 * Deletes a resource with its scopes. Raises `Role.Scopes.Updated` and `OrganizationRole.Scopes.Updated` for each
 * role that loses scopes, then `Scope.Deleted` for each scope and `Resource.Deleted`.
 *
 * @returns The resource in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} on a resource of Signet's own.
 */
export async function deleteResource(context: Context, { id }: { id: string }): Promise<Resource> {
  return transaction(context.database, async (tx) => {
    await lockOwnResource(tx, id);
    const scopes = await tx.scope.findMany({ where: { resourceId: id }, orderBy: { id: 'asc' } });
    const events = await eventsOfScopeLoss(tx, scopes);
    const resource = await tx.resource.delete({ where: { id } });
    await passSpelling(tx, resource.canonicalIndicator);
    const told = await recordEvents(tx, context, [
      ...events,
      { type: 'Resource.Deleted', data: resourceRecord(resource) },
    ]);
    return told.with(resource);
  });
}

/** A scope's name: a scope token (RFC 6749 §3.3), %x21 / %x23-5B / %x5D-7E. */
export const scopeName = text(128).regex(
  /^[\x21\x23-\x5B\x5D-\x7E]+$/,
  'must hold only the characters of a scope token (RFC 6749 §3.3): no spaces, quotes or backslashes',
);

/** The input of `createScope`. */
export const createScopeInput = z.object({
  resourceId: z.string(),
  name: scopeName,
  description: composedText(1024).nullish(),
});

const scopeConflicts = {
  Scope_resourceId_name_key: { path: ['name'], message: 'The resource has a scope of this name.' },
};

/**
 * Adds a scope to a resource. Raises `Scope.Created`.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} {@link NotAllowedError} on a resource of
 *   Signet's own.
 */
export async function createScope(
  context: Context,
  input: z.input<typeof createScopeInput>,
): Promise<Scope> {
  const values = parseInput(createScopeInput, input);
  return refuseConflict(scopeConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockOwnResource(tx, values.resourceId);
      const now = context.clock.now();
      const scope = await tx.scope.create({
        data: { ...values, id: newId('Scope'), createdAt: now, updatedAt: now },
      });
      const told = await recordEvent(tx, context, 'Scope.Created', scopeRecord(scope));
      return told.with(scope);
    }),
  );
}

const updateScopeInput = z.object({
  id: z.string(),
  name: notNull(createScopeInput.shape.name),
  description: createScopeInput.shape.description,
});

/**
 * Changes a scope. Raises `Scope.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} {@link NotAllowedError} on a scope of
 *   the management resource.
 */
export async function updateScope(
  context: Context,
  input: z.input<typeof updateScopeInput>,
): Promise<Scope> {
  const { id, ...patch } = parseInput(updateScopeInput, input);
  return refuseConflict(scopeConflicts, () =>
    transaction(context.database, async (tx) => {
      const before = await lockOwnScope(tx, id);
      return recordChange(tx, context, scopes, before, patch);
    }),
  );
}

/**
 * Deletes a scope. Raises `Role.Scopes.Updated` and `OrganizationRole.Scopes.Updated` for each role that loses
 * it, then `Scope.Deleted`.
 *
 * @returns The scope in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} on a scope of a resource of Signet's own.
 */
export async function deleteScope(context: Context, { id }: { id: string }): Promise<Scope> {
  return transaction(context.database, async (tx) => {
    const scope = await lockOwnScope(tx, id);
    const events = await eventsOfScopeLoss(tx, [scope]);
    await tx.scope.delete({ where: { id } });
    const told = await recordEvents(tx, context, events);
    return told.with(scope);
  });
}

async function lockOwnResource(tx: Transaction, id: string): Promise<Resource> {
  await lockRow(tx, 'Resource', id);
  const resource = await tx.resource.findUniqueOrThrow({ where: { id } });
  if (ownIndicators.has(resource.indicator)) {
    throw new NotAllowedError("This resource and its scopes are Signet's own.");
  }
  return resource;
}

async function lockOwnScope(tx: Transaction, id: string): Promise<Scope> {
  await lockRow(tx, 'Scope', id);
  const scope = await tx.scope.findUniqueOrThrow({ where: { id } });
  await lockOwnResource(tx, scope.resourceId);
  return scope;
}

/** The events of scopes that are deleted: first those of the roles that hold them, then their own. */
async function eventsOfScopeLoss(tx: Transaction, scopes: readonly Scope[]): Promise<NewEvent[]> {
  const byId = new Map(scopes.map((scope) => [scope.id, scopeReference(scope)]));
  const where = { scopeId: { in: [...byId.keys()] } };
  const held = await tx.roleScope.findMany({
    where,
    orderBy: [{ roleId: 'asc' }, { scopeId: 'asc' }],
  });
  const heldInOrganizations = await tx.organizationRoleResourceScope.findMany({
    where,
    orderBy: [{ organizationRoleId: 'asc' }, { scopeId: 'asc' }],
  });
  const references = (rows: readonly { scopeId: string }[] = []) =>
    rows.flatMap(({ scopeId }) => byId.get(scopeId) ?? []);
  return [
    ...[...Map.groupBy(held, ({ roleId }) => roleId)].map(
      ([roleId, rows]): NewEvent => ({
        type: 'Role.Scopes.Updated',
        data: { roleId, addedScopes: [], removedScopes: references(rows) },
      }),
    ),
    ...[...Map.groupBy(heldInOrganizations, (row) => row.organizationRoleId)].map(
      ([organizationRoleId, rows]): NewEvent => ({
        type: 'OrganizationRole.Scopes.Updated',
        data: {
          organizationRoleId,
          addedScopes: [],
          removedScopes: [],
          addedResourceScopes: [],
          removedResourceScopes: references(rows),
        },
      }),
    ),
    ...scopes.map((scope): NewEvent => ({ type: 'Scope.Deleted', data: scopeRecord(scope) })),
  ];
}
