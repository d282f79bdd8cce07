import type { Clock } from '../../../clock.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { challengeOf } from '../../code-challenge.ts';
import { freshCode } from './fresh-code.ts';
import { storedId } from './stored-id.ts';

/** An authorization code, with what only its application knows (RFC 6749 §4.1.3, RFC 7636 §4.5). */
export interface PresentedCode {
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
}

/** How the person of a code signed in. */
export interface CodeSignIn {
  readonly authenticatedAt: Date;
  /** Authentication method references (RFC 8176). */
  readonly methods: readonly string[];
}

/**
 * Uses up a code from a new sign-in, in place of the token endpoint. A refused code is not used up.
 *
 * @param owner The person and the application that the code must belong to.
 * @returns Null unless it is such a code, and this is its first use.
 */
export async function spendFreshCode(
  tx: Pick<Transaction, 'oidcRecord'>,
  { clock }: { readonly clock: Clock },
  owner: { readonly userId: string; readonly clientId: string },
  { code, codeVerifier, redirectUri }: PresentedCode,
): Promise<CodeSignIn | null> {
  const now = clock.now();
  const key = { model: 'AuthorizationCode', id: storedId(code) };
  const row = await tx.oidcRecord.findUnique({ where: { model_id: key } });
  if (row?.accountId !== owner.userId || row.clientId !== owner.clientId) return null;
  // The library wrote it.
  const payload = row.payload as unknown as CodePayload;
  const isRight =
    payload[freshCode] === true &&
    payload.redirectUri === redirectUri &&
    payload.codeChallengeMethod === 'S256' &&
    payload.codeChallenge === challengeOf(codeVerifier);
  if (!isRight) return null;
  const { count } = await tx.oidcRecord.updateMany({
    where: { ...key, consumedAt: null, expiresAt: { gt: now } },
    data: { consumedAt: now },
  });
  if (count === 0) return null;
  return { authenticatedAt: new Date(payload.authTime * 1000), methods: payload.amr ?? [] };
}

interface CodePayload {
  readonly [freshCode]?: boolean;
  readonly redirectUri: string;
  readonly codeChallenge?: string;
  readonly codeChallengeMethod?: string;
  readonly authTime: number;
  readonly amr?: readonly string[];
}
