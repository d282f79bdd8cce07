import { z } from 'zod';
import { assertMayBeApplication, assertMayOpenOwnApis } from '../auth/granting/may-open.ts';
import { setterScopesOf } from '../auth/granting/setter-scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { InvalidInputError, NotAllowedError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { ApplicationSecret } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { instant, name, parseInput } from '../input.ts';
import { digestOf } from '../keys/digest.ts';
import type { Context } from '../services.ts';
import { assertNotBuiltIn } from './built-in.ts';
import { secretsChange } from './payload.ts';
import { generateSecret, isConfidential } from './secret.ts';

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
 * Adds a secret to an application, beside those it has. Raises `Application.Secrets.Updated`.
 *
 * @returns The secret's record, and the secret in clear, which is not stored.
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `name`; {@link NotAllowedError} on an
 *   application without secrets, or an application that holds more than the caller.
 */
export async function createApplicationSecret(
  context: Context,
  input: z.input<typeof createSecretInput>,
): Promise<{ applicationSecret: ApplicationSecret; secret: string }> {
  const { applicationId, name, expiresAt } = parseInput(createSecretInput, input);
  assertNotBuiltIn(applicationId);
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
      if (!application.allowSecrets) {
        throw new NotAllowedError('The application authenticates by its keys alone.');
      }
      await assertMayBeApplication(tx, context, applicationId);
      const opened = application.allowTokenExchange ? application.exchangeResources : [];
      assertMayOpenOwnApis(context, opened);
      const added = await tx.applicationSecret.create({
        data: {
          id: newId('ApplicationSecret'),
          applicationId,
          name,
          digest: digestOf(secret),
          expiresAt: expiresAt ?? null,
          setterScopes: setterScopesOf(context),
          createdAt: now,
        },
      });
      const told = await recordEvents(tx, context, [
        secretsChange(applicationId, { added: [added] }),
      ]);
      return told.with(added);
    }),
  );
  return { applicationSecret, secret };
}

/**
 * Deletes a secret; calls that use it are refused from now on. Raises `Application.Secrets.Updated`.
 *
 * @returns The secret's record in its last state.
 * @throws {NotFoundError}
 */
export async function deleteApplicationSecret(
  context: Context,
  { id }: { id: string },
): Promise<ApplicationSecret> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'ApplicationSecret', id);
    const removed = await tx.applicationSecret.delete({ where: { id } });
    const told = await recordEvents(tx, context, [
      secretsChange(removed.applicationId, { removed: [removed] }),
    ]);
    return told.with(removed);
  });
}
