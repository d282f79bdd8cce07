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

const sessionPolicies = new WeakMap<IncomingMessage, SessionPolicy>();

/** The session lifetime that was read when the account of this request was looked up. */
export const sessionPolicyOf = ({ req }: Pick<KoaContextWithOIDC, 'req'>): SessionPolicy =>
  sessionPolicies.get(req) ?? defaultSignInExperience.sessionPolicy;

/**
 * Finds the user that a session or a token is about. A suspended user is not found; nor is a user whose sign-in is
 * older than the last suspension, password change or forced sign-out.
 */
export function createFindAccount({ database, clock }: Services): FindAccount {
  /** Whether a session has reached its maximum lifetime, which may have become shorter since it was stored. */
  async function isOver(ctx: KoaContextWithOIDC, userId: string): Promise<boolean> {
    const signedInAt = ctx.oidc.session?.authTime();
    if (signedInAt === undefined) return false;
    const { sessionPolicy } = await readSettingsInForce(database.prisma, userId);
    sessionPolicies.set(ctx.req, sessionPolicy);
    return signedInAt + sessionPolicy.maxSeconds <= toNumericDate(clock.now());
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
