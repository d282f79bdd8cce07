import { z } from 'zod';
import { assertMayGive, assertMayOpenManagement, mayDoEverything } from '../auth/granting.ts';
import { managementIndicator } from '../auth/scopes.ts';
import { signingAlgorithms } from '../config.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError, NotAllowedError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import {
  type Application,
  type ApplicationSecret,
  ApplicationType,
} from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { distinct, fault, instant, name, notNull, parseInput, patched, text } from '../input.ts';
import { digestOf } from '../keys/digest.ts';
import { ensureIdTokenKey } from '../keys/signing-keys.ts';
import { isResourceIndicator } from '../resources/operations.ts';
import type { Context } from '../services.ts';
import { endImpersonation } from '../users/sign-out.ts';
import { endGrantsOf } from './end-grants.ts';
import { assertNotOwn } from './own.ts';
import { generateSecret, isConfidential } from './secret.ts';

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
const indicator = text(2048).refine(
  isResourceIndicator,
  fault('INVALID_FORMAT', 'must be an absolute URI without a fragment'),
);

const settings = {
  description: text(1024).nullish(),
  allowTokenExchange: z.boolean().nullish(),
  exchangeSubjectAudiences: distinct(indicator, 100).nullish(),
  exchangeResources: distinct(indicator, 100).nullish(),
  allowImpersonation: z.boolean().nullish(),
  allowPersonalAccessTokens: z.boolean().nullish(),
  redirectUris: distinct(uri, 100).nullish(),
  postLogoutRedirectUris: distinct(uri, 100).nullish(),
  corsAllowedOrigins: distinct(origin, 100).nullish(),
  allowHeadlessSignIn: z.boolean().nullish(),
  isThirdParty: z.boolean().nullish(),
  idTokenSigningAlg: z.enum(signingAlgorithms).nullish(),
};

const createApplicationInput = z.object({
  name: name(),
  type: z.enum(ApplicationType),
  ...settings,
});
const updateApplicationInput = z.object({ id: z.string(), name: notNull(name()), ...settings });

/**
 * Creates an application, with a first secret if its type has secrets.
 *
 * @returns The application, and the secret in clear, which is not stored; null for a type without secrets.
 * @throws {InvalidInputError} {@link NotAllowedError} when its type may not exchange tokens, or when a caller without
 *   `all` lets it exchange for the management API.
 */
export async function createApplication(
  context: Context,
  input: z.input<typeof createApplicationInput>,
): Promise<{ application: Application; secret: string | null }> {
  const { name, type, description, ...given } = parseInput(createApplicationInput, input);
  const values = { name, type, description: description ?? null, ...cleared(given) };
  assertConsistent(values);
  assertMayOpenManagement(context, values);
  const now = context.clock.now();
  const secret = isConfidential(type) ? generateSecret() : null;
  const application = await transaction(context.database, async (tx) => {
    if (values.idTokenSigningAlg) await ensureIdTokenKey(tx, context, values.idTokenSigningAlg);
    const created = await tx.application.create({
      data: {
        ...values,
        id: newId('Application'),
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
          createdAt: now,
        },
      });
    }
    return created;
  });
  if (values.idTokenSigningAlg) await context.keys.reload();
  return { application, secret };
}

/**
 * Changes an application; its type cannot change. An absent field stays as it is; null clears it. Takes effect at once.
 * If it becomes a third-party application, everything it has got without consent ends.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link NotAllowedError} when its type may not exchange tokens, when a
 *   third-party application would get around consent, or when a caller without `all` lets it exchange for the management
 *   API.
 */
export async function updateApplication(
  context: Context,
  input: z.input<typeof updateApplicationInput>,
): Promise<Application> {
  const { id, name, description, ...given } = parseInput(updateApplicationInput, input);
  assertNotOwn(id);
  const patch = { name, description, ...cleared(given) };
  const application = await transaction(context.database, async (tx) => {
    await lockRow(tx, 'Application', id);
    const before = await tx.application.findUniqueOrThrow({ where: { id } });
    const after = patched(before, patch);
    assertConsistent(after);
    const isExchangeChanged =
      patch.allowTokenExchange !== undefined ||
      patch.exchangeResources !== undefined ||
      patch.allowPersonalAccessTokens !== undefined ||
      patch.exchangeSubjectAudiences !== undefined;
    if (isExchangeChanged) assertMayOpenManagement(context, after);
    if (patch.idTokenSigningAlg) await ensureIdTokenKey(tx, context, patch.idTokenSigningAlg);
    if (after.isThirdParty && !before.isThirdParty) await endGrantsOf(tx, context, id);
    return tx.application.update({
      where: { id },
      data: {
        ...patch,
        ...(await readTrust(tx, context, before, patch.redirectUris)),
        updatedAt: context.clock.now(),
      },
    });
  });
  if (patch.idTokenSigningAlg) await context.keys.reload();
  return application;
}

/**
 * Whether people are asked before the application gets scopes of the management API, after a change of its redirect
 * URIs. Whoever adds one could send an administrator's code there, so people are asked again unless the caller could do
 * everything anyway.
 */
async function readTrust(
  tx: Transaction,
  context: Context,
  { id, redirectUris: before }: Application,
  redirectUris: readonly string[] | undefined,
): Promise<{ managementWithoutConsent?: boolean }> {
  if (redirectUris === undefined) return {};
  if (mayDoEverything(context)) return { managementWithoutConsent: true };
  if (redirectUris.every((uri) => before.includes(uri))) return {};
  await tx.userGrantScope.deleteMany({
    where: { resource: managementIndicator, grant: { applicationId: id } },
  });
  return { managementWithoutConsent: false };
}

/**
 * Deletes an application with its secrets, roles, organization memberships and the sessions' grants to it. Its tokens
 * are refused from now on, and those by which others act for a user on its behalf. Raises
 * `Organization.Membership.Updated` for each organization it was in.
 *
 * @returns The application in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} on an application of the service itself.
 */
export async function deleteApplication(
  context: Context,
  { id }: { id: string },
): Promise<Application> {
  assertNotOwn(id);
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Application', id);
    // The event reports the rows that were actually deleted: a concurrent removal reports its own.
    const memberships = await tx.$queryRaw<{ organizationId: string }[]>`
      WITH "left" AS (DELETE FROM "OrganizationApplication" WHERE "applicationId" = ${id} RETURNING "organizationId")
      SELECT "organizationId" FROM "left" ORDER BY "organizationId"`;
    await tx.oidcRecord.deleteMany({ where: { clientId: id } });
    await endImpersonation(tx, context, id);
    const application = await tx.application.delete({ where: { id } });
    await recordEvents(
      tx,
      context,
      memberships.map(({ organizationId }) => ({
        type: 'Organization.Membership.Updated',
        data: {
          organizationId,
          addedUserIds: [],
          removedUserIds: [],
          addedApplicationIds: [],
          removedApplicationIds: [id],
        },
      })),
    );
    return application;
  });
}

const createSecretInput = z.object({
  applicationId: z.string(),
  name: name(),
  expiresAt: instant.nullish(),
});

const secretConflicts = {
  ApplicationSecret_applicationId_name_key: {
    path: ['name'],
    message: 'The application has a secret of this name.',
  },
};

/**
 * Adds a secret to an application, beside those it has.
 *
 * @returns The secret's record, and the secret in clear, which is not stored.
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `name`; {@link NotAllowedError} on a
 *   type without secrets, or an application that holds more than the caller.
 */
export async function createApplicationSecret(
  context: Context,
  input: z.input<typeof createSecretInput>,
): Promise<{ applicationSecret: ApplicationSecret; secret: string }> {
  const { applicationId, name, expiresAt } = parseInput(createSecretInput, input);
  assertNotOwn(applicationId);
  const now = context.clock.now();
  if (expiresAt && expiresAt <= now) {
    throw new InvalidInputError([{ path: ['expiresAt'], message: 'must be in the future' }]);
  }
  const secret = generateSecret();
  const applicationSecret = await refuseConflict(secretConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'Application', applicationId);
      const application = await tx.application.findUniqueOrThrow({ where: { id: applicationId } });
      if (!isConfidential(application.type)) {
        throw new NotAllowedError(`Applications of type ${application.type} have no secrets.`);
      }
      await assertMayGive(tx, context, { subjectIds: [applicationId] });
      assertMayOpenManagement(context, application);
      return tx.applicationSecret.create({
        data: {
          id: newId('ApplicationSecret'),
          applicationId,
          name,
          digest: digestOf(secret),
          expiresAt: expiresAt ?? null,
          createdAt: now,
        },
      });
    }),
  );
  return { applicationSecret, secret };
}

/**
 * Deletes a secret; calls that use it are refused from now on.
 *
 * @returns The secret's record as it last was.
 * @throws {NotFoundError}
 */
export async function deleteApplicationSecret(
  context: Context,
  { id }: { id: string },
): Promise<ApplicationSecret> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'ApplicationSecret', id);
    return tx.applicationSecret.delete({ where: { id } });
  });
}

type Settings = Omit<z.output<typeof updateApplicationInput>, 'id' | 'name' | 'description'>;

// Null clears: a list becomes empty, the switch goes off.
const cleared = (given: Settings) => ({
  allowTokenExchange: switched(given.allowTokenExchange),
  exchangeSubjectAudiences: emptied(given.exchangeSubjectAudiences),
  exchangeResources: emptied(given.exchangeResources),
  allowImpersonation: switched(given.allowImpersonation),
  allowPersonalAccessTokens: switched(given.allowPersonalAccessTokens),
  redirectUris: emptied(given.redirectUris),
  postLogoutRedirectUris: emptied(given.postLogoutRedirectUris),
  corsAllowedOrigins: emptied(given.corsAllowedOrigins),
  allowHeadlessSignIn: switched(given.allowHeadlessSignIn),
  isThirdParty: switched(given.isThirdParty),
  idTokenSigningAlg: given.idTokenSigningAlg,
});
const switched = (isOn: boolean | null | undefined) => (isOn === null ? false : isOn);
const emptied = (list: string[] | null | undefined) => (list === null ? [] : list);

function assertConsistent(
  application: Pick<Application, 'type'> & Omit<ReturnType<typeof cleared>, 'idTokenSigningAlg'>,
): void {
  const { type } = application;
  const exchanges =
    application.allowTokenExchange ||
    application.allowImpersonation ||
    application.allowPersonalAccessTokens;
  if (exchanges && !isConfidential(type)) {
    throw new NotAllowedError(`Applications of type ${type} cannot exchange tokens.`);
  }
  if (application.allowHeadlessSignIn && type === 'MACHINE_TO_MACHINE') {
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
  const issues: InputIssue[] = (['redirectUris', 'postLogoutRedirectUris'] as const).flatMap(
    (field) =>
      (application[field] ?? []).flatMap((value, index) => {
        const message = faultOfRedirectUri(type, value);
        return message ? [{ path: [field, String(index)], message }] : [];
      }),
  );
  if (issues.length > 0) throw new InvalidInputError(issues);
}

function faultOfRedirectUri(type: Application['type'], value: string): string | undefined {
  const { protocol } = new URL(value);
  if (type === 'MACHINE_TO_MACHINE') return 'must be empty: nobody signs in there';
  if (protocol === 'https:' || protocol === 'http:') return undefined;
  if (type !== 'NATIVE') return 'must be an http or https URL';
  // A private-use scheme is a reversed domain name (RFC 8252 §7.1).
  return protocol.includes('.')
    ? undefined
    : 'must be an http or https URL, or begin with a private-use scheme such as com.example.app:';
}
