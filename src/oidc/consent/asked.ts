import { needsConsent } from '../../auth/granting/consent.ts';
import { coversEverything } from '../../auth/granting/setter-scopes.ts';
import { areSpellings } from '../../auth/indicators.ts';
import { accountIndicator, ownIndicators } from '../../auth/scopes.ts';
import { prismaSql, type Sql } from '../../db/sql.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { Application, PrismaClient } from '../../generated/prisma/client.ts';
import { idForQuery } from '../../ids.ts';
import { targetOf } from '../../permissions/target.ts';

/** A client for reads, inside a transaction or outside. */
export type Client = Transaction | PrismaClient;

/** The `resource` of OpenID Connect's own scopes in the table of consents. */
export const noResource = '';

/** An application's authorization request, with the person whom it is about. */
export interface ConsentRequest {
  readonly userId: string;
  readonly application: Pick<Application, 'id' | 'type' | 'isThirdParty' | 'setterScopes'>;
  /** The requested scopes of OpenID Connect. */
  readonly oidcScopes: readonly string[];
  /** All requested scopes. */
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** Empty for a device, which has none. */
  readonly redirectUri: string;
  /** All redirect URIs of the application. */
  readonly redirectUris: readonly string[];
  /** The values of `prompt`. */
  readonly prompts: readonly string[];
}

/** A resource, with the scopes that the person is asked to allow. */
export interface AskedResource {
  readonly indicator: string;
  readonly name: string;
  readonly scopes: readonly { readonly name: string; readonly description: string | null }[];
}

/** What a person is asked to allow. */
export interface Consent {
  /** Scopes of OpenID Connect. */
  readonly scopes: readonly string[];
  readonly resources: readonly AskedResource[];
}

/** What a request asks of a person. */
export interface Asked {
  /** Everything that needs consent, allowed before or not. */
  readonly all: Consent;
  /** What was not allowed before. */
  readonly missing: Consent;
  /**
   * Whether the person is asked even if nothing is missing: the application wants that (`prompt=consent`, OpenID Connect
   * Core §3.1.2.1), or nothing proves that it is the one that was allowed (RFC 8252 §8.6), or still leads where it did.
   */
  readonly isAskedAgain: boolean;
  /** Whether the person is asked for the first time by a third party that wants nothing but to know who it is. */
  readonly isIntroduced: boolean;
}

/** Whether there is nothing to ask. */
export const isEmpty = ({ scopes, resources }: Consent): boolean =>
  scopes.length === 0 && resources.length === 0;

/** The names of the asked scopes, in order. */
export const namesOf = ({ scopes, resources }: Consent): string[] => [
  ...scopes,
  ...resources.flatMap((resource) => resource.scopes.map(({ name }) => name)),
];

/**
 * Finds what a person has to allow for a request. Scopes that they do not hold are left out, because the application
 * does not get them.
 *
 * @returns Null if the application needs no consent.
 */
export async function readAsked(client: Client, request: ConsentRequest): Promise<Asked | null> {
  const { application, userId, oidcScopes } = request;
  const asked = [...new Set(request.resources)].filter((one) => needsConsent(application, one));
  if (!application.isThirdParty && asked.length === 0) return null;
  const resources: AskedResource[] = [];
  for (const indicator of asked) {
    const held = await readHeld(client, userId, request.scopes, indicator);
    if (held && held.scopes.length > 0) resources.push({ indicator, ...held });
  }
  const all = { scopes: application.isThirdParty ? oidcScopes : [], resources };
  const allowed = await readAllowed(prismaSql(client), request);
  const isNew = (resource: string, name: string) =>
    !allowed.some((one) => isFor(one, resource) && one.name === name);
  const missing = {
    scopes: all.scopes.filter((name) => isNew(noResource, name)),
    resources: resources.flatMap((resource) => {
      const scopes = resource.scopes.filter(({ name }) => isNew(resource.indicator, name));
      return scopes.length > 0 ? [{ ...resource, scopes }] : [];
    }),
  };
  // A device may open a redirect URI without https in any of its applications (RFC 8252 §8.6). Without a redirect URI,
  // anybody can have begun the request on a device of theirs (RFC 8628 §5.4).
  const isAssured =
    (request.redirectUri.startsWith('https:') ||
      (application.type !== 'NATIVE' && request.redirectUri !== '')) &&
    (resources.every(({ indicator }) => !ownIndicators.has(indicator)) || leadsToOne(request));
  const isAskedAgain = !isEmpty(all) && (request.prompts.includes('consent') || !isAssured);
  const isIntroduced =
    application.isThirdParty && request.scopes.length === 0 && !(await isKnown(client, request));
  return { all, missing, isAskedAgain, isIntroduced };
}

/**
 * Whether an application always leads to one place. The setter of an application that may not reach Signet's own APIs by
 * itself could add another to one that people know, and send them there unseen after they have allowed it.
 */
const leadsToOne = ({ application, redirectUris }: ConsentRequest): boolean =>
  coversEverything(application.setterScopes) ||
  new Set(redirectUris.map((uri) => new URL(uri).host)).size <= 1;

/** Whether a person has allowed an application anything, be it to know who they are. */
const isKnown = async (
  client: Client,
  { userId, application }: Pick<ConsentRequest, 'userId' | 'application'>,
): Promise<boolean> =>
  (await client.userGrant.count({ where: { userId, applicationId: application.id } })) > 0;

/**
 * The scopes of a resource that an application may have of a person, when a token is issued: all of them, or those that
 * the person has allowed. What it was granted before says nothing, because somebody may have set it up anew since.
 */
export async function withoutUnallowed(
  sql: Sql,
  { userId, application }: Pick<ConsentRequest, 'userId' | 'application'>,
  indicator: string,
  scopes: readonly string[],
): Promise<readonly string[]> {
  if (scopes.length === 0 || !needsConsent(application, indicator)) return scopes;
  const rows = await readAllowed(sql, { userId, application });
  const allowed = new Set(rows.filter((row) => isFor(row, indicator)).map(({ name }) => name));
  return scopes.filter((name) => allowed.has(name));
}

interface AllowedScope {
  /** As it was spelled when the person was asked. */
  readonly resource: string;
  readonly name: string;
  /** Whether a resource is registered in this very spelling. */
  readonly isRegistered: boolean;
}

const allowedStatement = `
  SELECT s."resource", s."name",
         EXISTS (SELECT 1 FROM "Resource" r WHERE r."indicator" = s."resource") AS "isRegistered"
    FROM "UserGrant" g JOIN "UserGrantScope" s ON s."grantId" = g."id"
   WHERE g."userId" = $1 AND g."applicationId" = $2`;

const readAllowed = (
  sql: Sql,
  { userId, application }: Pick<ConsentRequest, 'userId' | 'application'>,
): Promise<AllowedScope[]> =>
  sql.query('allowed-scopes', allowedStatement, [userId, application.id]);

/** Whether an allowed scope is one of this resource: its spelling names the resource that a request by it would. */
const isFor = ({ resource, isRegistered }: AllowedScope, indicator: string): boolean =>
  resource === indicator || (!isRegistered && areSpellings(resource, indicator));

/** The requested scopes that a person holds on a resource or on an organization itself; null if there is no such one. */
async function readHeld(
  client: Client,
  userId: string,
  names: readonly string[],
  indicator: string,
): Promise<Omit<AskedResource, 'indicator'> | null> {
  const name = { in: [...names] };
  const select = { name: true, description: true } as const;
  const orderBy = { id: 'asc' } as const;
  const target = targetOf(indicator, undefined);
  if (target.isOrganization) {
    const id = idForQuery(target.organizationId, 'Organization') ?? '';
    const users = { some: { userId, organizationId: id } };
    const roles = { some: { organizationRole: { users } } };
    const organization = await client.organization.findUnique({ where: { id } });
    if (!organization) return null;
    const scopes = await client.organizationScope.findMany({
      where: { name, roles },
      select,
      orderBy,
    });
    return { name: organization.name, scopes };
  }
  const users = { some: { userId } };
  // Everybody holds the scopes of their own account, without a role.
  const isHeld = {
    OR: [
      { roles: { some: { role: { users } } } },
      { organizationRoles: { some: { organizationRole: { users } } } },
    ],
  };
  return client.resource.findUnique({
    where: { indicator },
    select: {
      name: true,
      scopes: {
        where: { name, ...(indicator === accountIndicator ? {} : isHeld) },
        select,
        orderBy,
      },
    },
  });
}
