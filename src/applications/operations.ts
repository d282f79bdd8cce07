import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  assertMayBeApplication,
  assertMayBeApplications,
  assertMayOpenOwnApis,
} from '../auth/granting/may-open.ts';
import {
  boundBy,
  coversEverything,
  mayDoEverything,
  setterScopesOf,
} from '../auth/granting/setter-scopes.ts';
import { ownIndicators } from '../auth/scopes.ts';
import { signingAlgorithms } from '../config.ts';
import { onceCommitted } from '../db/around.ts';
import { lockRow } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import { hintAfterCommit, type Transaction, transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import {
  changesBetween,
  type NewEvent,
  type Origin,
  recordChange,
  recordEvent,
  recordEvents,
} from '../events/record.ts';
import {
  type Application,
  ApplicationType,
  Prisma,
  SecurityProfile,
} from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import {
  composedText,
  distinct,
  fault,
  name,
  notNull,
  parseInput,
  patched,
  text,
} from '../input.ts';
import { digestOf } from '../keys/digest.ts';
import { resourceIndicator } from '../resources/operations.ts';
import { ensureSigningKey } from '../resources/signing-key.ts';
import type { Context } from '../services.ts';
import { endPersonalAccessTokensByConsent } from '../users/credentials.ts';
import { endImpersonation } from '../users/sign-out.ts';
import { assertNotBuiltIn } from './built-in.ts';
import { connectionRecord } from './cross-app/payload.ts';
import { endGrantsOf } from './end-grants.ts';
import { assertKeysAddress, faultsOfKeys, hasKeys, keySettings } from './keys.ts';
import { applicationRecord, applications, secretsChange } from './payload.ts';
import { generateSecret, isConfidential } from './secret.ts';
import { faultsOfProfile, withProfile } from './security-profile.ts';
import { trustedIssuerRecord } from './trusted-issuers/payload.ts';

const uri = text(2048).refine(
  (value) => URL.canParse(value) && !value.includes('#'),
  fault('INVALID_FORMAT', 'must be an absolute URI without a fragment'),
);
const origin = text(2048).refine(
  (value) =>
    URL.canParse(value) &&
    /^https?:$/.test(new URL(value).protocol) &&
    new URL(value).origin === value,
  fault('INVALID_FORMAT', 'must be an origin, such as https://app.example.com'),
);
/** The most applications that one may act for. */
export const maxActedFor = 100;

/** The longest time in which a used refresh token may come again, in seconds. */
export const maxRefreshTokenReuseSeconds = 300;
const defaultRefreshTokenReuseSeconds = 30;
const reuseBounds = `must be a whole number from 0 to ${maxRefreshTokenReuseSeconds}`;

const settings = {
  description: composedText(1024).nullish(),
  allowTokenExchange: z.boolean().nullish(),
  exchangeSubjectAudiences: distinct(resourceIndicator, 100).nullish(),
  exchangeResources: distinct(resourceIndicator, 100).nullish(),
  exchangeThirdPartySubjectTokens: z.boolean().nullish(),
  allowImpersonation: z.boolean().nullish(),
  allowPersonalAccessTokens: z.boolean().nullish(),
  redirectUris: distinct(uri, 100).nullish(),
  postLogoutRedirectUris: distinct(uri, 100).nullish(),
  corsAllowedOrigins: distinct(origin, 100).nullish(),
  allowHeadlessSignIn: z.boolean().nullish(),
  allowDeviceGrant: z.boolean().nullish(),
  isThirdParty: z.boolean().nullish(),
  idTokenSigningAlg: z.enum(signingAlgorithms).nullish(),
  ...keySettings,
  requireDpop: z.boolean().nullish(),
  mayRebindTokens: z.boolean().nullish(),
  mayActFor: distinct(z.string(), maxActedFor).nullish(),
  requirePushedAuthorizationRequests: z.boolean().nullish(),
  requirePkce: z.boolean().nullish(),
  securityProfile: z.enum(SecurityProfile).nullish(),
  refreshTokenReuseSeconds: z
    .int(reuseBounds)
    .min(0, reuseBounds)
    .max(maxRefreshTokenReuseSeconds, reuseBounds)
    .nullish(),
};

const createApplicationInput = z.object({
  name: name(),
  type: z.enum(ApplicationType),
  ...settings,
});
const updateApplicationInput = z.object({ id: z.string(), name: notNull(name()), ...settings });

/**
 * Reads the input of {@link createApplication}.
 *
 * @throws {InvalidInputError} {@link NotAllowedError} as `createApplication` does.
 */
export function readNewApplication(input: unknown) {
  const { name, type, description, ...given } = parseInput(createApplicationInput, input);
  const values = { name, type, description: description ?? null, ...cleared(withProfile(given)) };
  assertConsistent(values);
  return values;
}

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
    if (after.isThirdParty && !before.isThirdParty) await endGrantsOf(tx, context, id);
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
 * Checks that a caller may let an application act in the name of others.
 *
 * @throws {NotFoundError} {@link NotAllowedError} when one of them holds more than the caller.
 */
async function assertMayActFor(
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

const exchangeSettings = [
  'allowTokenExchange',
  'exchangeResources',
  'exchangeSubjectAudiences',
  'exchangeThirdPartySubjectTokens',
  'allowImpersonation',
  'allowPersonalAccessTokens',
  'mayRebindTokens',
  'mayActFor',
] as const;

/** How people sign in to an application without a redirect URI. */
const signInSwitches = ['allowHeadlessSignIn', 'allowDeviceGrant'] as const;

/**
 * The setter scopes of an application after a change. Whoever adds a redirect URI could have an administrator's code
 * sent there. So the change binds the application to what the caller holds, and people are asked for consent again. A
 * caller with `all` renews the scopes by setting the redirect URIs. Without them, a switch by which people sign in all
 * the same is set, or anything if there is none.
 */
async function setterScopesAfter(
  tx: Transaction,
  context: Context,
  before: Application,
  patch: ReturnType<typeof cleared>,
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
function isOpened(before: Application, patch: ReturnType<typeof cleared>): boolean {
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

/**
 * Deletes an application with its secrets, roles, organization memberships and the sessions' grants to it. Its tokens
 * are refused from now on, with what others exchanged them for, and the tokens with which others act for a user on its
 * behalf. Raises `Organization.Membership.Updated` for each organization it was in, `Application.Secrets.Updated` if it
 * had secrets, `TrustedIssuer.Deleted` and `CrossAppConnection.Deleted` for each of its, `User.Credential.Updated`
 * for each personal access token that it had created by virtue of consent, then `Application.Deleted`.
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
  await endPersonalAccessTokensByConsent(tx, context, { applicationId: id });
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

type Settings = Omit<z.output<typeof updateApplicationInput>, 'id' | 'name' | 'description'>;

// Null clears: a list becomes empty, the switch goes off, a number is the default.
const cleared = (given: Settings) => ({
  allowTokenExchange: switched(given.allowTokenExchange),
  exchangeSubjectAudiences: emptied(given.exchangeSubjectAudiences),
  exchangeResources: emptied(given.exchangeResources),
  exchangeThirdPartySubjectTokens: switched(given.exchangeThirdPartySubjectTokens),
  allowImpersonation: switched(given.allowImpersonation),
  allowPersonalAccessTokens: switched(given.allowPersonalAccessTokens),
  redirectUris: emptied(given.redirectUris),
  postLogoutRedirectUris: emptied(given.postLogoutRedirectUris),
  corsAllowedOrigins: emptied(given.corsAllowedOrigins),
  allowHeadlessSignIn: switched(given.allowHeadlessSignIn),
  allowDeviceGrant: switched(given.allowDeviceGrant),
  isThirdParty: switched(given.isThirdParty),
  idTokenSigningAlg: given.idTokenSigningAlg,
  jwks: given.jwks,
  jwksUri: given.jwksUri,
  requireDpop: switched(given.requireDpop),
  mayRebindTokens: switched(given.mayRebindTokens),
  mayActFor: emptied(given.mayActFor),
  requirePushedAuthorizationRequests: switched(given.requirePushedAuthorizationRequests),
  securityProfile: given.securityProfile === null ? ('NONE' as const) : given.securityProfile,
  refreshTokenReuseSeconds:
    given.refreshTokenReuseSeconds === null
      ? defaultRefreshTokenReuseSeconds
      : given.refreshTokenReuseSeconds,
  allowSecrets: restored(given.allowSecrets),
  requirePkce: restored(given.requirePkce),
});
const switched = (isOn: boolean | null | undefined) => (isOn === null ? false : isOn);
// These are on by default.
const restored = (isOn: boolean | null | undefined) => (isOn === null ? true : isOn);
const emptied = (list: string[] | null | undefined) => (list === null ? [] : list);

function assertConsistent(
  application: Pick<Application, 'type'> &
    Partial<Pick<Application, 'jwks' | 'idTokenSigningAlg'>> &
    Omit<ReturnType<typeof cleared>, 'idTokenSigningAlg' | 'jwks'>,
): void {
  const { type } = application;
  const exchanges =
    application.allowTokenExchange ||
    application.exchangeThirdPartySubjectTokens ||
    application.allowImpersonation ||
    application.mayRebindTokens ||
    (application.mayActFor ?? []).length > 0 ||
    application.allowPersonalAccessTokens;
  if (exchanges && !isConfidential(type)) {
    throw new NotAllowedError(`Applications of type ${type} cannot exchange tokens.`);
  }
  const signsIn = signInSwitches.some((one) => application[one]);
  if (signsIn && type === 'MACHINE_TO_MACHINE') {
    throw new NotAllowedError(`Applications of type ${type} sign nobody in.`);
  }
  if (application.isThirdParty) {
    if (type === 'MACHINE_TO_MACHINE') {
      throw new NotAllowedError(`Applications of type ${type} act for nobody.`);
    }
    // Either would be a way around the person's consent.
    if (application.allowHeadlessSignIn || exchanges) {
      throw new NotAllowedError(
        'A third-party application may not exchange tokens, nor sign people in without a browser.',
      );
    }
  }
  const addresses = (['redirectUris', 'postLogoutRedirectUris'] as const).flatMap((field) =>
    (application[field] ?? []).flatMap((value, index) => {
      const message = faultOfRedirectUri(type, value);
      return message ? [{ path: [field, String(index)], message }] : [];
    }),
  );
  const broken = faultsOfProfile(application);
  const issues: InputIssue[] = [
    ...addresses,
    ...faultsOfPkce(application),
    ...(broken.length > 0 ? broken : faultsOfKeys(application)),
  ];
  if (issues.length > 0) throw new InvalidInputError(issues);
}

/** Without PKCE, a code is protected by the application's secret alone, and a sign-in by `nonce` or `state`. */
const faultsOfPkce = ({
  type,
  requirePkce,
}: Pick<Application, 'type'> & Partial<Pick<Application, 'requirePkce'>>): InputIssue[] =>
  requirePkce === false && type !== 'TRADITIONAL'
    ? [{ path: ['requirePkce'], message: `must be on for type ${type}` }]
    : [];

/** Nobody vouches for what registered itself, so people are asked; and a document says itself what it describes. */
function assertOwnDescription(
  { origin }: Application,
  patch: { readonly [Field in 'isThirdParty' | (typeof described)[number]]?: unknown },
): void {
  if (origin === 'ADMINISTRATION') return;
  if (patch.isThirdParty === false)
    throw new NotAllowedError('An application that registered itself stays a third party’s.');
  if (origin === 'METADATA_DOCUMENT' && described.some((field) => patch[field] !== undefined))
    throw new NotAllowedError('The application’s metadata document says this.');
}

/** What a metadata document describes. */
const described = ['name', 'redirectUris', 'postLogoutRedirectUris'] as const;

/** Why an application of this type cannot have a redirect URI; undefined if it can. */
export function faultOfRedirectUri(type: Application['type'], value: string): string | undefined {
  const { protocol } = new URL(value);
  if (type === 'MACHINE_TO_MACHINE') return 'must be empty: nobody signs in there';
  if (protocol === 'https:' || protocol === 'http:') return undefined;
  if (type !== 'NATIVE') return 'must be an http or https URL';
  // A private-use scheme is a reversed domain name (RFC 8252 §7.1).
  return protocol.includes('.')
    ? undefined
    : 'must be an http or https URL, or begin with a private-use scheme such as com.example.app:';
}
