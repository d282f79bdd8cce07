import type { AccessTokenClaims, ActClaim } from '../../../auth/access-token.ts';
import { ownIndicators } from '../../../auth/scopes.ts';
import type { Sql } from '../../../db/sql.ts';
import type { PersonalAccessToken } from '../../../generated/prisma/client.ts';
import { idForQuery, kindOfId } from '../../../ids.ts';
import { scopesOf } from '../../../subject-tokens/personal-access-token.ts';
import { maxLineage } from '../grant-state.ts';

/** What limits the tokens that come from a subject token, beside the rights of its user. */
export interface Bounds {
  /** The scopes that may be granted; undefined: all that the user holds. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Whether there may be a token for this resource or organization. */
  readonly reaches: (indicator: string) => boolean;
  /** The organization that they stay limited to, if there is one. */
  readonly organizationId?: string | undefined;
}

const reachesOthers = (indicator: string): boolean => !ownIndicators.has(indicator);

/** The bounds of the access token of a sign-in: none. */
export const noBounds: Bounds = { scopes: undefined, reaches: () => true };

/**
 * The bounds of an agent's token: never Signet's own APIs. The user may come to hold more than the agent, and an agent
 * must not change the user's account.
 */
export const agentBounds: Bounds = { scopes: undefined, reaches: reachesOthers };

/**
 * The bounds of a token that came by the assertion of a trusted issuer: not Signet's own APIs, at any distance. Whoever
 * asks for those by the assertion itself is asked about second factors; an exchange asks for none.
 */
export const assertedBounds: Bounds = { scopes: undefined, reaches: reachesOthers };

/**
 * The bounds of what comes from an access token, as subject or as actor, at any distance.
 *
 * - From an assertion about a user: {@link assertedBounds}, also if it was an actor's. That of a workload is no user's.
 * - Through third-party applications: not Signet's own APIs. They ask the token for its scopes and not who acts, so an
 *   exchange would get around consent there.
 *
 * @param inherited What {@link readInheritedBounds} found.
 */
export function boundsOf(
  { sub, act, lineage = [] }: Pick<AccessTokenClaims, 'sub' | 'act' | 'lineage'>,
  inherited: Bounds,
  state: { readonly thirdParties: readonly string[] },
): Bounds {
  const isIssuer = (origin: string | undefined) => idForQuery(origin, 'TrustedIssuer') !== null;
  // The subject's issuer comes first. Another is that of an actor's token, which may have been a user's.
  const isAsserted = isUser(sub) && isIssuer(lineage[0]);
  const isActorAsserted = namesUser(act) && lineage.some(isIssuer);
  const asserted =
    isAsserted || isActorAsserted ? together([assertedBounds, inherited]) : inherited;
  return withinConsent(asserted, state);
}

const isUser = (id: string): boolean => kindOfId(id) === 'User';

const namesUser = (act: ActClaim | undefined): boolean =>
  act !== undefined && (isUser(act.sub) || namesUser(act.act));

/** Adds the bounds of a token that came through third-party applications, if it did. */
export const withinConsent = (
  bounds: Bounds,
  { thirdParties }: { readonly thirdParties: readonly string[] },
): Bounds => (thirdParties.length > 0 ? together([agentBounds, bounds]) : bounds);

/** The bounds of a personal access token. */
export function personalBounds(token: Pick<PersonalAccessToken, 'scope' | 'resource'>): Bounds {
  const { resource } = token;
  const scopes = scopesOf(token);
  return {
    scopes: scopes === null ? undefined : new Set(scopes),
    reaches: resource === null ? reachesOthers : (indicator) => indicator === resource,
  };
}

const boundsStatement = `SELECT "scope", "resource" FROM "PersonalAccessToken" WHERE "id" = ANY ($1::text[])`;

/** The bounds of what comes from several tokens: those of each. */
const together = (all: readonly Bounds[]): Bounds =>
  all.reduce((some, { scopes, reaches }) => ({
    scopes: some.scopes && scopes ? some.scopes.intersection(scopes) : (some.scopes ?? scopes),
    reaches: (indicator) => some.reaches(indicator) && reaches(indicator),
  }));

/**
 * Finds the bounds of an access token by its `lineage`, which names what it first came from, and what its actors' tokens
 * came from. The bounds hold however often the token is exchanged. Tokens of a sign-in need no statement.
 *
 * @param lineage Not verified yet.
 * @returns Undefined when a personal access token is gone.
 */
export async function readInheritedBounds(sql: Sql, lineage: unknown): Promise<Bounds | undefined> {
  const origins: unknown[] = Array.isArray(lineage) ? lineage.slice(0, maxLineage) : [];
  const isAgents = origins.some((origin) => idForQuery(origin, 'SubjectToken') !== null);
  const own = isAgents ? agentBounds : noBounds;
  const ids = new Set(origins.flatMap((one) => idForQuery(one, 'PersonalAccessToken') ?? []));
  if (ids.size === 0) return own;
  const found = await sql.query<Pick<PersonalAccessToken, 'scope' | 'resource'>>(
    'personal-access-token-bounds',
    boundsStatement,
    [[...ids]],
  );
  return found.length < ids.size ? undefined : together([own, ...found.map(personalBounds)]);
}
