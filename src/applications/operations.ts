import { z } from 'zod';
import type { Context } from '../auth/context.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError, NotAllowedError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import {
  type Application,
  type ApplicationSecret,
  ApplicationType,
} from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { distinct, name, notNull, parseInput, patched, text } from '../input.ts';
import { isResourceIndicator } from '../resources/operations.ts';
import { digestSecret, generateSecret } from './secret.ts';

const uri = text(2048).refine(
  (value) => URL.canParse(value) && !value.includes('#'),
  'must be an absolute URI without a fragment',
);
const origin = text(2048).refine(
  (value) =>
    URL.canParse(value) &&
    /^https?:$/.test(new URL(value).protocol) &&
    new URL(value).origin === value,
  'must be an origin, such as https://app.example.com',
);
const indicator = text(2048).refine(
  isResourceIndicator,
  'must be an absolute URI without a fragment',
);

const settings = {
  description: text(1024).nullish(),
  allowTokenExchange: z.boolean().nullish(),
  exchangeSubjectAudiences: distinct(indicator, 100).nullish(),
  exchangeResources: distinct(indicator, 100).nullish(),
  redirectUris: distinct(uri, 100).nullish(),
  postLogoutRedirectUris: distinct(uri, 100).nullish(),
  corsAllowedOrigins: distinct(origin, 100).nullish(),
};

const createApplicationInput = z.object({
  name: name(),
  type: z.enum(ApplicationType),
  ...settings,
});
const updateApplicationInput = z.object({ id: z.string(), name: notNull(name()), ...settings });

/** Whether applications of that type keep a secret, as a client (RFC 6749 §2.1: confidential). */
export const hasSecret = (type: Application['type']): boolean =>
  type === 'TRADITIONAL' || type === 'MACHINE_TO_MACHINE';

/**
 * Creates an application, with a first secret where its type keeps one.
 *
 * @returns The application, and the secret in clear, which is not kept; null for a type without.
 * @throws {InvalidInputError} {@link NotAllowedError} when a type that may not exchange tokens switches it on.
 */
export async function createApplication(
  context: Context,
  input: z.input<typeof createApplicationInput>,
): Promise<{ application: Application; secret: string | null }> {
  const { name, type, description, ...given } = parseInput(createApplicationInput, input);
  const values = { name, type, description: description ?? null, ...cleared(given) };
  assertConsistent(values);
  const now = context.clock.now();
  const secret = hasSecret(type) ? generateSecret() : null;
  const application = await transaction(context.database, async (tx) => {
    const created = await tx.application.create({
      data: { ...values, id: newId('Application'), createdAt: now, updatedAt: now },
    });
    if (secret !== null) {
      await tx.applicationSecret.create({
        data: {
          id: newId('ApplicationSecret'),
          applicationId: created.id,
          name: 'Initial secret',
          digest: digestSecret(secret),
          createdAt: now,
        },
      });
    }
    return created;
  });
  return { application, secret };
}

/**
 * Changes an application; its type stays. An absent field is left alone, null clears it. In force at once.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link NotAllowedError} when a type that may not exchange
 *   tokens switches it on.
 */
export async function updateApplication(
  context: Context,
  input: z.input<typeof updateApplicationInput>,
): Promise<Application> {
  const { id, name, description, ...given } = parseInput(updateApplicationInput, input);
  const patch = { name, description, ...cleared(given) };
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Application', id);
    const before = await tx.application.findUniqueOrThrow({ where: { id } });
    assertConsistent(patched(before, patch));
    return tx.application.update({
      where: { id },
      data: { ...patch, updatedAt: context.clock.now() },
    });
  });
}

/**
 * Deletes an application with its secrets, roles, organization memberships and the sessions' grants to it; its
 * tokens are refused from now on. Raises `Organization.Membership.Updated` for each organization it was in.
 *
 * @returns The application as it last was.
 * @throws {NotFoundError}
 */
export async function deleteApplication(
  context: Context,
  { id }: { id: string },
): Promise<Application> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Application', id);
    // What was deleted is what is told: an organization that removes the member meanwhile tells it itself.
    const memberships = await tx.$queryRaw<{ organizationId: string }[]>`
      WITH "left" AS (DELETE FROM "OrganizationApplication" WHERE "applicationId" = ${id} RETURNING "organizationId")
      SELECT "organizationId" FROM "left" ORDER BY "organizationId"`;
    await tx.oidcRecord.deleteMany({ where: { clientId: id } });
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
  expiresAt: z.date().nullish(),
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
 * @returns The secret's record, and the secret in clear, which is not kept.
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `name`; {@link NotAllowedError} on a
 *   type without secrets.
 */
export async function createApplicationSecret(
  context: Context,
  input: z.input<typeof createSecretInput>,
): Promise<{ applicationSecret: ApplicationSecret; secret: string }> {
  const { applicationId, name, expiresAt } = parseInput(createSecretInput, input);
  const now = context.clock.now();
  if (expiresAt && expiresAt <= now) {
    throw new InvalidInputError([{ path: ['expiresAt'], message: 'must be in the future' }]);
  }
  const secret = generateSecret();
  const applicationSecret = await refuseConflict(secretConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'Application', applicationId);
      const { type } = await tx.application.findUniqueOrThrow({ where: { id: applicationId } });
      if (!hasSecret(type))
        throw new NotAllowedError(`Applications of type ${type} have no secrets.`);
      return tx.applicationSecret.create({
        data: {
          id: newId('ApplicationSecret'),
          applicationId,
          name,
          digest: digestSecret(secret),
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

// Null clears: a list to the empty one, the switch to off.
const cleared = (given: Settings) => ({
  allowTokenExchange: given.allowTokenExchange === null ? false : given.allowTokenExchange,
  exchangeSubjectAudiences: emptied(given.exchangeSubjectAudiences),
  exchangeResources: emptied(given.exchangeResources),
  redirectUris: emptied(given.redirectUris),
  postLogoutRedirectUris: emptied(given.postLogoutRedirectUris),
  corsAllowedOrigins: emptied(given.corsAllowedOrigins),
});
const emptied = (list: string[] | null | undefined) => (list === null ? [] : list);

function assertConsistent(
  application: Pick<Application, 'type'> & ReturnType<typeof cleared>,
): void {
  const { type } = application;
  if (application.allowTokenExchange && !hasSecret(type)) {
    throw new NotAllowedError(`Applications of type ${type} cannot exchange tokens.`);
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
  // RFC 8252 §7.1: a private-use scheme is a domain name in reverse.
  return protocol.includes('.')
    ? undefined
    : 'must be an http or https URL, or begin with a private-use scheme such as com.example.app:';
}
