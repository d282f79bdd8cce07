import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../db/transaction.ts';
import type { Services } from '../../services.ts';
import { ceremonySeconds } from './relying-party.ts';

/** What a challenge is for. A response counts only for the same purpose. */
export interface ChallengePurpose {
  /** The id of the interaction or of the session that it was issued in. */
  readonly holder: string;
  /** Whether it is to make a passkey rather than to use one. */
  readonly isEnrollment: boolean;
  /** Whose passkey it must be; null while nobody is known. */
  readonly userId: string | null;
}

// For one holder. A page asks for a challenge when it opens, and a person may have several tabs.
const maxUnderWay = 10;

/**
 * Makes a challenge that one response can answer, within {@link ceremonySeconds}.
 *
 * @see https://www.w3.org/TR/webauthn-3/#sctn-cryptographic-challenges
 */
export async function issueChallenge(
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  { holder, isEnrollment, userId }: ChallengePurpose,
): Promise<Uint8Array<ArrayBuffer>> {
  await tx.$executeRaw`
    DELETE FROM "PasskeyChallenge" WHERE "challenge" IN (
      SELECT "challenge" FROM "PasskeyChallenge" WHERE "holder" = ${holder}
       ORDER BY "expiresAt" DESC OFFSET ${maxUnderWay - 1})`;
  const challenge = new Uint8Array(randomBytes(32));
  const expiresAt = new Date(clock.now().getTime() + ceremonySeconds * 1000);
  await tx.passkeyChallenge.create({
    data: { challenge, holder, isEnrollment, userId, expiresAt },
  });
  return challenge;
}

/**
 * Uses up a challenge. Never call it inside a transaction: a rollback would make the challenge good again.
 *
 * @returns Whether it was issued for this purpose, in time, and was not used before. One statement decides, so that of
 *   many responses to one challenge, on all nodes, one counts.
 */
export async function takeChallenge(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  challenge: Uint8Array<ArrayBuffer>,
  purpose: ChallengePurpose,
): Promise<boolean> {
  const { count } = await database.prisma.passkeyChallenge.deleteMany({
    where: { challenge, ...purpose, expiresAt: { gt: clock.now() } },
  });
  return count === 1;
}
