import type { z } from 'zod';
import { ownReference } from '../auth/access-token.ts';
import { assertMayBeApplication, assertMayOpenOwnApis } from '../auth/granting/may-open.ts';
import {
  coversEverything,
  mayDoEverything,
  setterScopesOf,
} from '../auth/granting/setter-scopes.ts';
import { onceCommitted } from '../db/around.ts';
import { lockRow } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import { hintAfterCommit, type Transaction, transaction } from '../db/transaction.ts';
import {
  changesBetween,
  type NewEvent,
  type Origin,
  recordChange,
  recordEvent,
  recordEvents,
} from '../events/record.ts';
import { type Application, Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { parseInput, patched } from '../input.ts';
import { digestOf } from '../keys/digest.ts';
import { ensureSigningKey } from '../resources/signing-key.ts';
import type { Context } from '../services.ts';
import { endPersonalAccessTokens, revokeIssuedFor } from '../users/credentials.ts';
import { endImpersonation } from '../users/sign-out.ts';
import { assertNotBuiltIn } from './built-in.ts';
import { connectionRecord } from './cross-app/payload.ts';
import { endGrantsOf } from './end-grants.ts';
import { assertKeysAddress, hasKeys } from './keys.ts';
import { applicationRecord, applications, secretsChange } from './payload.ts';
import { assertMayActFor, exchangeSettings, setterScopesAfter } from './rights.ts';
import { generateSecret, isConfidential } from './secret.ts';
import { withProfile } from './security-profile.ts';
import {
  assertConsistent,
  assertOwnDescription,
  cleared,
  type createApplicationInput,
  readNewApplication,
  updateApplicationInput,
} from './settings.ts';
import { trustedIssuerRecord } from './trusted-issuers/payload.ts';

/**
 * Creates an application, with a first secret if it may have secrets. Raises `Application.Created`.
 *
 * @returns The application, and the secret in clear, which is not stored; null if it has none.
 * @throws {InvalidInputError} {@link NotAllowedError} when its type may not exchange tokens, or when a caller without
 *   `all` lets it exchange for one of Signet's own APIs.
 */
export async function createApplication(
  context: Context,
  input: z.input<typeof createApplicationInput>,
): Promise<{ application: Application; secret: string | null }> {
  const { jwks, ...values } = readNewApplication(input);
  await assertKeysAddress(context, values.jwksUri);
  assertMayOpenOwnApis(context, values.exchangeResources ?? []);
  const now = context.clock.now();
  const isSecret = isConfidential(values.type) && values.allowSecrets !== false;
  const secret = isSecret ? generateSecret() : null;
  const application = await transaction(context.database, async (tx) => {
    await assertMayActFor(tx, context, values.mayActFor ?? []);
    await ensureSigningKey(tx, context, values.idTokenSigningAlg);
    const created = await tx.application.create({
      data: {
        ...values,
        jwks: jwks ?? Prisma.DbNull,
        keySetterScopes: hasKeys({ jwks, ...values }) ? setterScopesOf(context) : [],
        id: newId('Application'),
        setterScopes: setterScopesOf(context),
        managementWithoutConsent: mayDoEverything(context),
        createdAt: now,
        updatedAt: now,
      },
    });
    if (secret !== null) {
      await tx.applicationSecret.create({
        data: {
          id: newId('ApplicationSecret'),
          applicationId: created.id,
          name: 'Initial secret',
          digest: digestOf(secret),
          setterScopes: setterScopesOf(context),
          createdAt: now,
        },
      });
    }
    const told = await recordEvent(tx, context, 'Application.Created', applicationRecord(created));
    return told.with(created);
  });
  if (values.idTokenSigningAlg) await onceCommitted(() => context.keys.reload());
  return { application, secret };
}

/**
 * Changes an application; its type cannot change. An absent field stays as it is; null clears it. Takes effect at once.
 * If it becomes a third-party application, everything issued to it without consent ends. Raises
 * `Application.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link NotAllowedError} when its type may not exchange tokens, when
 *   a third-party application would get around consent, or when a caller without `all` lets it exchange for one of
 *   Signet's own APIs.
 */
export async function updateApplication(
  context: Context,
  input: z.input<typeof updateApplicationInput>,
): Promise<Application> {
  const { id, name, description, ...given } = parseInput(updateApplicationInput, input);
  assertNotBuiltIn(id);
  const patch = { name, description, ...cleared(withProfile(given)) };
  await assertKeysAddress(context, patch.jwksUri);
  const application = await transaction(context.database, async (tx) => {
    await lockRow(tx, 'Application', id);
    const before = await tx.application.findUniqueOrThrow({ where: { id } });
    const after = patched(before, patch);
    assertConsistent(after);
    assertOwnDescription(before, patch);
    const isExchangeChanged = exchangeSettings.some((field) => patch[field] !== undefined);
    // Whoever has the key is the application.
    const areKeysGiven = patch.jwks !== undefined || patch.jwksUri !== undefined;
    if (areKeysGiven) await assertMayBeApplication(tx, context, id);
    const isOpened = isExchangeChanged || (areKeysGiven && after.allowTokenExchange);
    assertMayOpenOwnApis(context, isOpened ? (after.exchangeResources ?? []) : []);
    await assertMayActFor(tx, context, patch.mayActFor ?? []);
    await ensureSigningKey(tx, context, patch.idTokenSigningAlg);
    if (after.isThirdParty !== before.isThirdParty) await changeOwner(tx, context, after);
    const setterScopes = await setterScopesAfter(tx, context, before, patch);
    const managementWithoutConsent = coversEverything(setterScopes);
    const keySetterScopes = !areKeysGiven
      ? before.keySetterScopes
      : hasKeys(after)
        ? setterScopesOf(context)
        : [];
    return recordChange(
      tx,
      context,
      applications,
      before,
      { ...patch, setterScopes, keySetterScopes, managementWithoutConsent },
      changesBetween(
        { setterScopes: before.setterScopes, keySetterScopes: before.keySetterScopes },
        { setterScopes, keySetterScopes },
      ),
    );
  });
  if (patch.idTokenSigningAlg) await onceCommitted(() => context.keys.reload());
  return application;
}

/**
 * Ends everything issued without consent to an application that becomes a third party's. The tokens of people that it got
 * by assertions are no more than refused: they count again once it is the operator's own.
 */
async function changeOwner(
  tx: Transaction,
  context: Context,
  { id, isThirdParty }: Pick<Application, 'id' | 'isThirdParty'>,
): Promise<void> {
  const jti = ownReference(id);
  if (!isThirdParty) {
    await tx.revokedToken.deleteMany({ where: { jti } });
    return;
  }
  await endGrantsOf(tx, context, id);
  await revokeIssuedFor(tx, context, [jti]);
}

/**
 * Deletes an application with its secrets, roles, organization memberships and the sessions' grants to it. Its tokens
 * are refused from now on, with what others exchanged them for, and the tokens with which others act for a user on its
 * behalf. Raises `Organization.Membership.Updated` for each organization it was in, `Application.Secrets.Updated` if it
 * had secrets, `TrustedIssuer.Deleted` and `CrossAppConnection.Deleted` for each of its, `User.Credential.Updated`
 * for each personal access token that somebody created through it while it needed consent, or at all if it is a third
 * party's now, then `Application.Deleted`.
 *
 * @returns The application in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} on an application of the service itself.
 */
export async function deleteApplication(
  context: Context,
  { id }: { id: string },
): Promise<Application> {
  assertNotBuiltIn(id);
  return transaction(context.database, (tx) => deleteWithin(tx, context, id));
}

const ofApplication = (applicationId: string) =>
  ({ where: { applicationId }, orderBy: { id: 'asc' } }) as const;

/** Does what {@link deleteApplication} does, in a transaction that has begun. */
export async function deleteWithin(
  tx: Transaction,
  context: Origin,
  id: string,
): Promise<Told<Application>> {
  await lockRow(tx, 'Application', id);
  // The event reports the rows that were actually deleted: a concurrent removal reports its own.
  const memberships = await tx.$queryRaw<{ organizationId: string }[]>`
      WITH "left" AS (DELETE FROM "OrganizationApplication" WHERE "applicationId" = ${id} RETURNING "organizationId")
      SELECT "organizationId" FROM "left" ORDER BY "organizationId"`;
  await endGrantsOf(tx, context, id);
  await endImpersonation(tx, context, id);
  // There was no consent to an application that became a third party's later.
  await endPersonalAccessTokens(tx, context, {
    OR: [{ grant: { applicationId: id } }, { client: { id, isThirdParty: true } }],
  });
  const secrets = await tx.applicationSecret.findMany({
    where: { applicationId: id },
    orderBy: { id: 'asc' },
  });
  const issuers = await tx.trustedIssuer.findMany(ofApplication(id));
  const connections = await tx.crossAppConnection.findMany(ofApplication(id));
  const application = await tx.application.delete({ where: { id } });
  // Whoever works through a queue looks at rights again: webhooks that the application set up are disabled.
  hintAfterCommit(tx, 'queues');
  const told = await recordEvents(tx, context, [
    ...memberships.map(
      ({ organizationId }): NewEvent => ({
        type: 'Organization.Membership.Updated',
        data: {
          organizationId,
          addedUserIds: [],
          removedUserIds: [],
          addedApplicationIds: [],
          removedApplicationIds: [id],
        },
      }),
    ),
    ...(secrets.length === 0 ? [] : [secretsChange(id, { removed: secrets })]),
    ...issuers.map(
      (issuer): NewEvent => ({ type: 'TrustedIssuer.Deleted', data: trustedIssuerRecord(issuer) }),
    ),
    ...connections.map(
      (connection): NewEvent => ({
        type: 'CrossAppConnection.Deleted',
        data: connectionRecord(connection),
      }),
    ),
    { type: 'Application.Deleted', data: applicationRecord(application) },
  ]);
  return told.with(application);
}
