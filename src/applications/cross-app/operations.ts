import { z } from 'zod';
import { refuseConflict } from '../../db/conflict.ts';
import { lockRow } from '../../db/lock.ts';
import { transaction } from '../../db/transaction.ts';
import { InvalidInputError, NotAllowedError } from '../../errors.ts';
import { recordChange, recordEvent } from '../../events/record.ts';
import type { CrossAppConnection } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { notNull, parseInput, text } from '../../input.ts';
import type { Context } from '../../services.ts';
import { assertNotBuiltIn } from '../built-in.ts';
import { isConfidential } from '../secret.ts';
import { foreignIssuer, foreignScopes } from '../trusted-issuers/fields.ts';
import { connectionRecord, connections } from './payload.ts';

const clientId = text(2048)
  .min(1, 'must not be empty')
  .regex(/^[\x20-\x7e]*$/, 'must hold only the characters of a client id (RFC 6749 §A.1)');

const createInput = z.object({
  applicationId: z.string(),
  issuer: foreignIssuer,
  clientId,
  scopes: foreignScopes.nullish(),
});

const conflicts = {
  CrossAppConnection_applicationId_issuer_key: {
    path: ['issuer'],
    message: 'The application has a connection to this issuer.',
  },
};

/**
 * Lets an application take the identities of its users to another authorization server (ID-JAG). Raises
 * `CrossAppConnection.Created`.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the application; {@link ConflictError} on `issuer`;
 *   {@link NotAllowedError} when the application does not authenticate, or is a third party's.
 */
export async function createCrossAppConnection(
  context: Context,
  input: z.input<typeof createInput>,
): Promise<CrossAppConnection> {
  const { applicationId, scopes, ...values } = parseInput(createInput, input);
  assertNotBuiltIn(applicationId);
  assertElsewhere(context, values.issuer);
  const now = context.clock.now();
  return refuseConflict(conflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'Application', applicationId);
      const { type, isThirdParty } = await tx.application.findUniqueOrThrow({
        where: { id: applicationId },
      });
      if (!isConfidential(type))
        throw new NotAllowedError(`Applications of type ${type} do not authenticate.`);
      // It would be a way around the person's consent.
      if (isThirdParty)
        throw new NotAllowedError('A third-party application takes no identities elsewhere.');
      const created = await tx.crossAppConnection.create({
        data: {
          ...values,
          id: newId('CrossAppConnection'),
          applicationId,
          scopes: scopes ?? [],
          createdAt: now,
          updatedAt: now,
        },
      });
      const told = await recordEvent(
        tx,
        context,
        'CrossAppConnection.Created',
        connectionRecord(created),
      );
      return told.with(created);
    }),
  );
}

const updateInput = z.object({
  id: z.string(),
  issuer: notNull(foreignIssuer),
  clientId: notNull(clientId),
  scopes: foreignScopes.nullish(),
});

/**
 * Changes a connection; its application cannot change. An absent field stays as it is; null clears it. Raises
 * `CrossAppConnection.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError}; {@link ConflictError} on `issuer`.
 */
export async function updateCrossAppConnection(
  context: Context,
  input: z.input<typeof updateInput>,
): Promise<CrossAppConnection> {
  const { id, scopes, ...patch } = parseInput(updateInput, input);
  if (patch.issuer !== undefined) assertElsewhere(context, patch.issuer);
  return refuseConflict(conflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'CrossAppConnection', id);
      const before = await tx.crossAppConnection.findUniqueOrThrow({ where: { id } });
      const given = { ...patch, scopes: scopes === null ? [] : scopes };
      return recordChange(tx, context, connections, before, given);
    }),
  );
}

/**
 * Deletes a connection: the application gets no more identity assertions for that issuer. Those that it has got expire
 * within minutes. Raises `CrossAppConnection.Deleted`.
 *
 * @returns The connection in its last state.
 * @throws {NotFoundError}
 */
export async function deleteCrossAppConnection(
  context: Context,
  { id }: { id: string },
): Promise<CrossAppConnection> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'CrossAppConnection', id);
    const deleted = await tx.crossAppConnection.delete({ where: { id } });
    const told = await recordEvent(
      tx,
      context,
      'CrossAppConnection.Deleted',
      connectionRecord(deleted),
    );
    return told.with(deleted);
  });
}

/** An identity provider must not take its own assertions (draft-ietf-oauth-identity-assertion-authz-grant §8.3). */
function assertElsewhere({ issuer: here }: Context, issuer: string): void {
  if (issuer !== here) return;
  const message = 'must be another one than this service';
  throw new InvalidInputError([{ path: ['issuer'], message }]);
}
