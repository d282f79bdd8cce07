import { isDeepStrictEqual } from 'node:util';
import { assertMayBeApplications } from '../auth/granting/may-open.ts';
import { boundBy, mayDoEverything, setterScopesOf } from '../auth/granting/setter-scopes.ts';
import { ownIndicators } from '../auth/scopes.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import type { Application } from '../generated/prisma/client.ts';
import type { Context } from '../services.ts';
import { type Cleared, signInSwitches } from './settings.ts';

/**
 * Checks that a caller may let an application act in the name of others.
 *
 * @throws {NotFoundError} {@link NotAllowedError} when one of them holds more than the caller.
 */
export async function assertMayActFor(
  tx: Transaction,
  context: Context,
  applicationIds: readonly string[],
): Promise<void> {
  const known = await tx.application.findMany({
    where: { id: { in: [...applicationIds] } },
    select: { id: true },
  });
  const missing = applicationIds.find((one) => known.every(({ id }) => id !== one));
  if (missing !== undefined) throw new NotFoundError(missing);
  await assertMayBeApplications(tx, context, applicationIds);
}

/** What an application may do with the tokens of others. */
export const exchangeSettings = [
  'allowTokenExchange',
  'exchangeResources',
  'exchangeSubjectAudiences',
  'exchangeThirdPartySubjectTokens',
  'allowImpersonation',
  'allowPersonalAccessTokens',
  'mayRebindTokens',
  'mayActFor',
] as const;

/**
 * The setter scopes of an application after a change. Whoever adds a redirect URI could have an administrator's code
 * sent there. So the change binds the application to what the caller holds, and people are asked for consent again. A
 * caller with `all` renews the scopes by setting the redirect URIs. Without them, a switch by which people sign in all
 * the same is set, or anything if there is none.
 */
export async function setterScopesAfter(
  tx: Transaction,
  context: Context,
  before: Application,
  patch: Cleared,
): Promise<string[]> {
  const bound = boundBy(context, before.setterScopes);
  if (mayDoEverything(context)) {
    const isRenewed =
      patch.redirectUris !== undefined ||
      (before.redirectUris.length === 0 &&
        signInSwitches.every((one) => !before[one] || patch[one] !== undefined));
    return isRenewed ? setterScopesOf(context) : before.setterScopes;
  }
  const isNowOpened = isOpened(before, patch);
  // What people allowed at an address that goes is not for those that stay.
  const isMoved =
    patch.redirectUris !== undefined && !isDeepStrictEqual(patch.redirectUris, before.redirectUris);
  if (isNowOpened || isMoved) {
    await tx.userGrantScope.deleteMany({
      where: { resource: { in: [...ownIndicators] }, grant: { applicationId: before.id } },
    });
  }
  return isNowOpened ? bound : before.setterScopes;
}

/** What keeps those out who get at an application's requests, codes or tokens. */
const protections = ['requirePkce', 'requireDpop', 'requirePushedAuthorizationRequests'] as const;

/** Whether a change lets an application, or whoever gets at its codes, do more with its users' rights. */
function isOpened(before: Application, patch: Cleared): boolean {
  const adds = (field: 'redirectUris' | 'corsAllowedOrigins') =>
    patch[field]?.some((value) => !before[field].includes(value)) ?? false;
  return (
    adds('redirectUris') ||
    adds('corsAllowedOrigins') ||
    (patch.allowHeadlessSignIn === true && !before.allowHeadlessSignIn) ||
    (patch.allowDeviceGrant === true && !before.allowDeviceGrant) ||
    (patch.isThirdParty === false && before.isThirdParty) ||
    protections.some((field) => patch[field] === false && before[field]) ||
    exchangeSettings.some(
      (field) => patch[field] !== undefined && !isDeepStrictEqual(patch[field], before[field]),
    )
  );
}
