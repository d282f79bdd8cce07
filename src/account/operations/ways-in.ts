import type { Transaction } from '../../db/transaction.ts';
import { NotAllowedError } from '../../errors.ts';
import { isElsewhere } from '../../identity-providers/choice.ts';
import { canSend } from '../../messages/queue-message.ts';
import type { ViewerContext } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';

/** The change would take away the last way to sign in. */
export class LastWayInError extends NotAllowedError {
  constructor() {
    super('This is the last way to sign in to the account: add another one first.');
  }
}

/**
 * Makes a change that takes away a way to sign in.
 *
 * @throws {LastWayInError} when it was the last one.
 */
export async function removeWayIn<T>(
  tx: Transaction,
  context: ViewerContext,
  work: () => Promise<T>,
): Promise<T> {
  const couldSignIn = await canSignIn(tx, context);
  const result = await work();
  if (couldSignIn && !(await canSignIn(tx, context))) throw new LastWayInError();
  return result;
}

async function canSignIn(tx: Transaction, context: ViewerContext): Promise<boolean> {
  const { userId } = context.viewer;
  const settings = await readSettingsInForce(tx, userId);
  const { passwordEnabled, codeEnabled, signInIdentifiers, factors } = settings;
  const identities = { userId, provider: { enabled: true } };
  if ((await tx.userIdentity.count({ where: identities })) > 0) return true;
  const passkeys = { userId, type: 'PASSKEY' } as const;
  if (factors.includes('PASSKEY') && (await tx.userFactor.count({ where: passkeys })) > 0)
    return true;
  const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
  // People with an address of a company sign in only at its provider.
  const email =
    user.primaryEmail !== null && !(await isElsewhere(tx, user.primaryEmail))
      ? user.primaryEmail
      : null;
  const held = { USERNAME: user.username, EMAIL: email, PHONE: user.primaryPhone };
  const isNamed = signInIdentifiers.some((type) => held[type] !== null);
  if (passwordEnabled && user.passwordDigest !== null && isNamed) return true;
  for (const [type, channel] of [
    ['EMAIL', 'EMAIL'],
    ['PHONE', 'SMS'],
  ] as const) {
    // A code signs in, or leads to a new password, which signs in too.
    const isTaken = passwordEnabled || (codeEnabled && signInIdentifiers.includes(type));
    if (held[type] !== null && isTaken && (await canSend(context, channel, tx))) return true;
  }
  return false;
}
