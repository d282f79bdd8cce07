import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Account, FindAccount, KoaContextWithOIDC } from 'oidc-provider';
import { toNumericDate } from '../../clock.ts';
import type { User } from '../../generated/prisma/client.ts';
import { idForQuery } from '../../ids.ts';
import type { Services } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import { defaultSignInExperience, type SessionPolicy } from '../../sign-in-experience/settings.ts';
import { namesOfClaim, profileClaims } from '../../users/fields.ts';

/** The claims that each scope gives (OpenID Connect Core §5.4). */
export const claimsByScope = {
  openid: ['sub', 'acr', 'amr', 'auth_time'],
  profile: ['name', 'preferred_username', 'picture', 'updated_at', ...profileClaims],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
};

/** The scopes of OpenID Connect. */
export const oidcScopes: readonly string[] = [...Object.keys(claimsByScope), 'offline_access'];

type BrowserSession = NonNullable<KoaContextWithOIDC['oidc']['session']>;

const sessionPolicies = new WeakMap<IncomingMessage, SessionPolicy>();

/** The session lifetime that was read when the account of this request was looked up. */
export const sessionPolicyOf = ({ req }: Pick<KoaContextWithOIDC, 'req'>): SessionPolicy =>
  sessionPolicies.get(req) ?? defaultSignInExperience.sessionPolicy;

/**
 * Finds the user that a session or a token is about. A suspended user is not found; nor is a user whose sign-in is
 * older than the last suspension, password change or forced sign-out.
 */
export function createFindAccount({ database, clock }: Services): FindAccount {
  /**
   * Whether a session is over by the settings in force. They may have become stricter since it was stored, or the person
   * may hold more now than whoever weakened them.
   */
  async function isOver(ctx: KoaContextWithOIDC, userId: string): Promise<boolean> {
    const { session, result } = ctx.oidc;
    const signedInAt = session?.authTime();
    if (!session || signedInAt === undefined) return false;
    const [{ sessionPolicy }, seen] = await Promise.all([
      readSettingsInForce(database.prisma, userId),
      database.prisma.session.findUnique({
        where: { id: session.uid },
        select: { lastActiveAt: true },
      }),
    ]);
    sessionPolicies.set(ctx.req, sessionPolicy);
    const now = toNumericDate(clock.now());
    const usedAt = Math.max(signedInAt, seen ? toNumericDate(seen.lastActiveAt) : 0);
    // A sign-in that ends now is a use, however long it took.
    const isUnused = !result?.login && usedAt + sessionPolicy.idleSeconds <= now;
    if (!isUnused && signedInAt + sessionPolicy.maxSeconds > now) return false;
    await end(session);
    return true;
  }

  /** Ends a session in its browser, as if it had expired: this request would otherwise count as its use. */
  async function end(session: BrowserSession): Promise<void> {
    await database.prisma.session.deleteMany({ where: { id: session.uid } });
    delete session.accountId;
    delete session.loginTs;
    delete session.acr;
    delete session.amr;
    delete session.authorizations;
    session.uid = randomBytes(32).toString('base64url');
    session.resetIdentifier();
  }

  return async (ctx, sub, token) => {
    const id = idForQuery(sub, 'User');
    if (id === null) return undefined;
    const user = await database.prisma.user.findUnique({ where: { id } });
    if (!user || user.isSuspended) return undefined;
    // The end of a sign-in deletes the stored records, but a running request may have stored them again.
    const signedInAt = token && 'authTime' in token ? token.authTime : ctx.oidc.session?.authTime();
    const isStale =
      typeof signedInAt === 'number' &&
      user.tokensValidAfter !== null &&
      signedInAt < toNumericDate(user.tokensValidAfter);
    if (isStale || (await isOver(ctx, id))) return undefined;
    return accountOf(user);
  };
}

const accountOf = (user: User): Account => ({
  accountId: user.id,
  // The library removes the claims that the scopes do not give.
  claims: () => claimsOf(user),
});

function claimsOf(user: User) {
  const profile = user.profile as Record<string, unknown>;
  const fromProfile = profileClaims.flatMap((claim) => {
    const value = namesOfClaim(claim)
      .map((name) => profile[name])
      .find((found) => found != null);
    return typeof value === 'string' ? [[claim, value] as const] : [];
  });
  const claims = {
    ...Object.fromEntries(fromProfile),
    name: user.name,
    preferred_username: user.username,
    picture: user.avatar,
    email: user.primaryEmail,
    email_verified: user.primaryEmail === null ? null : user.isEmailVerified,
    phone_number: user.primaryPhone,
    phone_number_verified: user.primaryPhone === null ? null : user.isPhoneVerified,
    updated_at: toNumericDate(user.updatedAt),
  };
  const known = Object.entries(claims).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), sub: user.id };
}
