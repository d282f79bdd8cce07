import { managementIndicator } from '../../auth/scopes.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { Application, PrismaClient } from '../../generated/prisma/client.ts';
import { idForQuery } from '../../ids.ts';
import { targetOf } from '../token/target.ts';

/** What reads: inside a transaction, or outside. */
export type Client = Transaction | PrismaClient;

/** The `resource` of a scope of OpenID Connect, in the table of consents. */
export const noResource = '';

/** An authorization request of an application, for a person who is known. */
export interface ConsentRequest {
  readonly userId: string;
  readonly application: Pick<
    Application,
    'id' | 'type' | 'isThirdParty' | 'managementWithoutConsent'
  >;
  /** The requested scopes of OpenID Connect. */
  readonly oidcScopes: readonly string[];
  /** All requested scopes. */
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly redirectUri: string;
  /** The values of `prompt`. */
  readonly prompts: readonly string[];
}

/** A resource of which scopes are asked. */
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
   * Core §3.1.2.1), or nothing proves that it is the one that was allowed (RFC 8252 §8.6).
   */
  readonly isAskedAgain: boolean;
}

/** Whether nothing is asked. */
export const isEmpty = ({ scopes, resources }: Consent): boolean =>
  scopes.length === 0 && resources.length === 0;

/** The names of the asked scopes, in order. */
export const namesOf = ({ scopes, resources }: Consent): string[] => [
  ...scopes,
  ...resources.flatMap((resource) => resource.scopes.map(({ name }) => name)),
];

/**
 * Whether a person has to allow an application to get scopes of a resource. Third-party applications need that for
 * everything. Any application needs it for the management API, unless whoever last set its redirect URIs could do
 * everything: others could send a code, and so an administrator's rights, where they like.
 */
export const needsConsent = (
  {
    isThirdParty,
    managementWithoutConsent,
  }: Pick<Application, 'isThirdParty' | 'managementWithoutConsent'>,
  resource: string,
): boolean => isThirdParty || (resource === managementIndicator && !managementWithoutConsent);

/**
 * Reads what a request asks of a person. Scopes that the person does not hold are not asked, because the application
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
  const allowed = await client.userGrantScope.findMany({
    where: { grant: { userId, applicationId: application.id } },
    select: { resource: true, name: true },
  });
  const isNew = (resource: string, name: string) =>
    !allowed.some((one) => one.resource === resource && one.name === name);
  const missing = {
    scopes: all.scopes.filter((name) => isNew(noResource, name)),
    resources: resources.flatMap((resource) => {
      const scopes = resource.scopes.filter(({ name }) => isNew(resource.indicator, name));
      return scopes.length > 0 ? [{ ...resource, scopes }] : [];
    }),
  };
  // The system can open a redirect URI other than https in any application of the device (RFC 8252 §8.6).
  const isAssured = application.type !== 'NATIVE' || request.redirectUri.startsWith('https:');
  const isAskedAgain = !isEmpty(all) && (request.prompts.includes('consent') || !isAssured);
  return { all, missing, isAskedAgain };
}

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
  return client.resource.findUnique({
    where: { indicator },
    select: {
      name: true,
      scopes: {
        where: {
          name,
          OR: [
            { roles: { some: { role: { users } } } },
            { organizationRoles: { some: { organizationRole: { users } } } },
          ],
        },
        select,
        orderBy,
      },
    },
  });
}
