import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { untold } from '../db/told.ts';
import { quietTransaction } from '../db/transaction.ts';
import { InvalidInputError, VerificationFailedError } from '../errors.ts';
import {
  addPasskey,
  readPasskeyName,
  startPasskeyEnrollment as startEnrollment,
  verifyEnrollment,
} from '../factors/passkeys/enroll.ts';
import { readAuthentication } from '../factors/passkeys/responses.ts';
import {
  findPasskey,
  methodsOfPasskey,
  recordPasskeyUse,
  startPasskeyUse,
  verifyPasskeyUse,
} from '../factors/passkeys/use.ts';
import { assertOffered } from '../factors/policy.ts';
import { noteFailure } from '../protection/addresses.ts';
import { suspended, tryGuess } from '../protection/attempts.ts';
import { reportFailedSignIn } from '../protection/refusals/failed-sign-in.ts';
import type { VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { guessOf } from './guesses.ts';
import type { Holder } from './holder.ts';

/**
 * Makes the options with which a browser makes a new passkey.
 *
 * @throws {NotAllowedError} when passkeys are off, or the person may not add a factor; {@link
 *   VerificationRequiredError} {@link InteractionExpiredError}
 */
export const startPasskeyEnrollment = (
  holder: Holder,
): Promise<PublicKeyCredentialCreationOptionsJSON> =>
  holder.enroll(async (tx, person) => untold(await startEnrollment(tx, person.context, person)));

/**
 * Stores a new passkey of the person, which has then been shown too. Raises `User.Data.Updated` and
 * `User.Credential.Updated`.
 *
 * @throws {InvalidInputError} {@link VerificationFailedError}; {@link NotAllowedError} and
 *   {@link VerificationRequiredError} as for {@link startPasskeyEnrollment}; {@link InteractionExpiredError}
 */
export async function confirmPasskey(
  holder: Holder,
  { response, name }: { response: unknown; name?: string | null | undefined },
): Promise<void> {
  const { id, context } = holder;
  const passkeyName = readPasskeyName(name);
  const { id: userId } = await holder.readPerson('ENROLL');
  // Outside the transaction: a rollback would make the challenge good again.
  const passkey = await verifyEnrollment(context, { holder: id, userId }, response);
  await holder.enroll(async (tx, person) => {
    // A concurrent step may have signed in somebody else.
    if (person.userId !== userId) throw new VerificationFailedError();
    const added = await addPasskey(tx, person.context, person, passkey, passkeyName);
    await person.recordShown(methodsOfPasskey(passkey));
    return added.with(undefined);
  });
}

/**
 * Makes the options with which a browser asks for a passkey: one of the person's; any one, while nobody is known.
 *
 * @throws {NotAllowedError} when passkeys are off, or the person has none; {@link InteractionExpiredError}
 */
export async function startPasskey(holder: Holder): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { id, context } = holder;
  const userId = (await holder.findPerson())?.id ?? null;
  assertOffered(await readSettingsInForce(context.database.prisma, userId), 'PASSKEY');
  return quietTransaction(context.database, (tx) =>
    startPasskeyUse(tx, context, { holder: id, userId }),
  );
}

/**
 * Checks a passkey: one of the person's; while nobody is known, any one that has verified its owner, who is then signed
 * in. An unknown passkey, one of another user, and a wrong response fail the same way.
 *
 * @throws {InvalidInputError} on a malformed response; {@link VerificationFailedError} {@link LockedError};
 *   {@link NotAllowedError} when passkeys are off; {@link InteractionExpiredError}
 */
export async function verifyPasskey(
  holder: Holder,
  { response: given }: { response: unknown },
): Promise<void> {
  const { id, applicationId, context } = holder;
  const response = readAuthentication(given);
  const known = await holder.findPerson();
  const { prisma } = context.database;
  assertOffered(await readSettingsInForce(prisma, known?.id), 'PASSKEY');
  const passkey = await findPasskey(context.database, response);
  const request = { holder: id, userId: known?.id ?? null };
  // Outside the transaction: a rollback would make the challenge good again.
  const verify = () => verifyPasskeyUse(context, request, response, passkey);
  const person = known ?? passkey?.user;
  if (!person) {
    // No user is known, so the failure counts only against the client's address.
    await verify();
    reportFailedSignIn(context, {
      identifierType: null,
      userId: null,
      method: 'PASSKEY',
      reason: 'CREDENTIAL',
      applicationId,
    });
    await noteFailure(context, context.ip);
    throw new VerificationFailedError();
  }
  const isOnlyStep = known === null;
  const guess = guessOf(context, 'PASSKEY', person, { applicationId, isOnlyStep });
  const settings = await readSettingsInForce(prisma, person.id);
  await tryGuess(context, settings, guess, async () => {
    const use = await verify();
    if (use === suspended) return use;
    if (!use || !passkey) return null;
    const methods = methodsOfPasskey(passkey);
    const factor = { userId: passkey.userId, methods, isOnlyStep };
    return (await holder.show(factor, (tx) => recordPasskeyUse(tx, context, passkey, use))) || null;
  });
}

/**
 * The id of the passkey that a refused response names, if nobody has it: the browser may then forget it. This reveals
 * nothing: ids are random, and only the passkey's authenticator knows its id.
 */
export async function findUnknownPasskey(
  { database }: VisitContext,
  given: unknown,
): Promise<string | undefined> {
  try {
    const response = readAuthentication(given);
    return (await findPasskey(database, response)) ? undefined : response.id;
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}
