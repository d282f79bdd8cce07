import type { Transaction } from '../../db/transaction.ts';
import { NotAllowedError } from '../../errors.ts';
import type { User } from '../../generated/prisma/client.ts';
import { isElsewhere } from '../../identity-providers/choice.ts';
import { canSend } from '../../messages/queue-message.ts';
import type { Services } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';

/**
 * Checks that a person can still sign in, inside the transaction that took a way from them.
 *
 * @throws {NotAllowedError} when no way is left.
 */
export async function assertCanSignIn(
  tx: Transaction,
  services: Pick<Services, 'config' | 'database'>,
  user: User,
): Promise<void> {
  const ways = [byIdentityOrPasskey, byPasswordOrCode];
  for (const isPossible of ways) if (await isPossible(tx, services, user)) return;
  throw new NotAllowedError('This is the only way to sign in: add another one first.');
}

type Way = typeof assertCanSignIn extends (...asked: infer Asked) => unknown
  ? (...asked: Asked) => Promise<boolean>
  : never;

const byIdentityOrPasskey: Way = async (tx, _services, { id: userId }) => {
  const { factors } = await readSignInExperience(tx);
  const identities = await tx.userIdentity.count({
    where: { userId, provider: { enabled: true } },
  });
  if (identities > 0) return true;
  return (
    factors.includes('PASSKEY') &&
    (await tx.userFactor.count({ where: { userId, type: 'PASSKEY' } })) > 0
  );
};

const byPasswordOrCode: Way = async (tx, services, user) => {
  const settings = await readSignInExperience(tx);
  const { passwordEnabled, codeEnabled, signInIdentifiers } = settings;
  const hasPassword = passwordEnabled && user.passwordDigest !== null;
  const isNamed = user.username !== null && signInIdentifiers.includes('USERNAME');
  if (hasPassword && isNamed) return true;
  const addresses = [
    { type: 'EMAIL', channel: 'EMAIL', recipient: user.primaryEmail },
    { type: 'PHONE', channel: 'SMS', recipient: user.primaryPhone },
  ] as const;
  for (const { type, channel, recipient } of addresses) {
    if (recipient === null || (await isElsewhere(tx, recipient))) continue;
    const isIdentifier = signInIdentifiers.includes(type);
    if (hasPassword && isIdentifier) return true;
    // By a code alone, or by a new password, which a code to any address of the account allows to choose.
    const isCodeOfUse = passwordEnabled || (codeEnabled && isIdentifier);
    if (isCodeOfUse && (await canSend(services, channel, tx))) return true;
  }
  return false;
};
