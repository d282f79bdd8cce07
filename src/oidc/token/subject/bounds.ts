import { ownIndicators } from '../../../auth/scopes.ts';
import type { Sql } from '../../../db/sql.ts';
import type { PersonalAccessToken } from '../../../generated/prisma/client.ts';
import { idForQuery } from '../../../ids.ts';
import { scopesOf } from '../../../subject-tokens/personal-access-token.ts';

/** What limits the tokens that come from a subject token, beside the rights of its user. */
export interface Bounds {
  /** The scopes that may be granted; undefined: all that the user holds. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Whether there may be a token for this resource or organization. */
  readonly reaches: (indicator: string) => boolean;
}

const reachesOthers = (indicator: string): boolean => !ownIndicators.has(indicator);

/** Of the access token of a sign-in. */
export const noBounds: Bounds = { scopes: undefined, reaches: () => true };

/**
 * Of an agent's token: never Signet's own APIs. The user may come to hold more than the agent, and nobody changes
 * another's account in their name.
 */
export const agentBounds: Bounds = { scopes: undefined, reaches: reachesOthers };

/** Of a personal access token. */
export function personalBounds(token: Pick<PersonalAccessToken, 'scope' | 'resource'>): Bounds {
  const { resource } = token;
  const scopes = scopesOf(token);
  return {
    scopes: scopes === null ? undefined : new Set(scopes),
    reaches: resource === null ? reachesOthers : (indicator) => indicator === resource,
  };
}

const boundsStatement = `SELECT "scope", "resource" FROM "PersonalAccessToken" WHERE "id" = $1`;

/**
 * Finds the bounds of an access token by its `lineage`, which begins with what it came from first. They hold however
 * often it is exchanged. The tokens of a sign-in need no statement for it.
 *
 * @param lineage Not verified yet.
 * @returns Undefined when the personal access token is gone.
 */
export async function readInheritedBounds(sql: Sql, lineage: unknown): Promise<Bounds | undefined> {
  const origin: unknown = Array.isArray(lineage) ? lineage[0] : undefined;
  if (idForQuery(origin, 'SubjectToken') !== null) return agentBounds;
  const personal = idForQuery(origin, 'PersonalAccessToken');
  if (personal === null) return noBounds;
  const [found] = await sql.query<Pick<PersonalAccessToken, 'scope' | 'resource'>>(
    'personal-access-token-bounds',
    boundsStatement,
    [personal],
  );
  return found && personalBounds(found);
}
