import type { Account, FindAccount } from 'oidc-provider';
import type { Services } from '../auth/context.ts';
import { toNumericDate } from '../clock.ts';
import type { User } from '../generated/prisma/client.ts';
import { idForQuery } from './target.ts';

const profileClaims = [
  'family_name',
  'given_name',
  'middle_name',
  'nickname',
  'profile',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
] as const;

/** Which claims a scope gives (OpenID Connect Core §5.4). Whether an address was verified is not known here. */
export const claimsByScope = {
  openid: ['sub'],
  profile: ['name', 'preferred_username', 'picture', 'updated_at', ...profileClaims],
  email: ['email'],
  phone: ['phone_number'],
};

/**
 * Finds the user that a session or a token is about. One who is suspended is not found, nor is one whose sign-in
 * was before the last suspension, password change or forced sign-out.
 */
export function createFindAccount({ database }: Services): FindAccount {
  return async (ctx, sub, token) => {
    const id = idForQuery(sub, 'User');
    if (id === null) return undefined;
    const user = await database.prisma.user.findUnique({ where: { id } });
    if (!user || user.isSuspended) return undefined;
    // What was stored is deleted then; a request under way at that instant may store again what it had read.
    const signedInAt = token && 'authTime' in token ? token.authTime : ctx.oidc.session?.authTime();
    const isStale =
      typeof signedInAt === 'number' &&
      user.tokensValidAfter !== null &&
      signedInAt < toNumericDate(user.tokensValidAfter);
    return isStale ? undefined : accountOf(user);
  };
}

const accountOf = (user: User): Account => ({
  accountId: user.id,
  // The library leaves out what the scopes do not give.
  claims: () => claimsOf(user),
});

function claimsOf(user: User) {
  const profile = user.profile as Record<string, unknown>;
  const fromProfile = profileClaims.flatMap((claim) => {
    const value = profile[claim] ?? profile[camelCase(claim)];
    return typeof value === 'string' ? [[claim, value] as const] : [];
  });
  const claims = {
    ...Object.fromEntries(fromProfile),
    name: user.name,
    preferred_username: user.username,
    picture: user.avatar,
    email: user.primaryEmail,
    phone_number: user.primaryPhone,
    updated_at: toNumericDate(user.updatedAt),
  };
  const known = Object.entries(claims).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), sub: user.id };
}

const camelCase = (claim: string) =>
  claim.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
