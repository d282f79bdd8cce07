import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { idPrefixes } from '../../src/ids.ts';
import { schema } from '../../src/schema.ts';
import { send } from '../support/operations/graphql.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const make = createMaker(overGraphQL(service, await service.managementToken()));
const { done } = make;

const ids: Record<string, string> = {};
beforeAll(async () => {
  const scopeId = await make.scope();
  ids['Scope'] = scopeId;
  const { prisma } = service.app.services.database;
  ids['Resource'] = (await prisma.scope.findUniqueOrThrow({ where: { id: scopeId } })).resourceId;
  ids['Role'] = await make.role({ scopeIds: [scopeId] });
  const machines = await make.role({ type: 'MACHINE_TO_MACHINE', scopeIds: [scopeId] });
  const primaryEmail = 'invited@example.com';
  ids['User'] = await make.user({ primaryEmail });
  await done('assignUserRoles', { userId: ids['User'], roleIds: [ids['Role']] });
  ids['Application'] = await make.application();
  await done('assignApplicationRoles', { applicationId: ids['Application'], roleIds: [machines] });
  ids['OrganizationScope'] = await make.organizationScope();
  const organizationRoleId = await make.organizationRole({
    organizationScopeIds: [ids['OrganizationScope']],
    scopeIds: [scopeId],
  });
  ids['OrganizationRole'] = organizationRoleId;
  const organizationId = await make.organization();
  ids['Organization'] = organizationId;
  const organizationRoleIds = [organizationRoleId];
  const invitation = { invitee: primaryEmail, organizationId, organizationRoleIds };
  ids['OrganizationInvitation'] = await make.invitation(invitation);
  await done('updateOrganizationInvitationStatus', {
    id: ids['OrganizationInvitation'],
    status: 'ACCEPTED',
    acceptedUserId: ids['User'],
  });
  await done('addOrganizationUsers', { organizationId, userIds: [await make.user()] });
  await done('addOrganizationApplications', {
    organizationId,
    applicationIds: [ids['Application']],
  });
  await done('replaceOrganizationJitRoles', { organizationId, organizationRoleIds });
  await done('addOrganizationEmailDomain', { organizationId, domain: 'example.com' });
  ids['Webhook'] = await make.webhook();
  ids['Delivery'] = (await done('testWebhook', { id: ids['Webhook'] })).delivery.id;
  ids['SigningKey'] = (await prisma.signingKey.findFirstOrThrow()).id;
});

/** The scope that a type asks for. */
function scopeOf({ extensions }: GraphQLNamedType): string | undefined {
  const { pothosOptions } = extensions as {
    pothosOptions?: { authScopes?: { scope?: string } };
  };
  return pothosOptions?.authScopes?.scope;
}

const fieldsOf = (type: GraphQLNamedType): GraphQLField<unknown, unknown>[] =>
  isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
const fieldOf = (type: GraphQLNamedType, name: string) =>
  getNamedType(fieldsOf(type).find((field) => field.name === name)?.type) as GraphQLNamedType;

/** What a path ends in: the records, or the one, and what it takes to read them. */
interface Path {
  readonly names: readonly string[];
  readonly document: (selection: string) => string;
  readonly type: GraphQLNamedType;
  readonly isList: boolean;
}

// What an event says of itself takes `events:read` alone: the log is what that scope is for.
const isLogged = ({ name }: GraphQLField<unknown, unknown>) =>
  /^(?:data|changes|actor)$|Snapshot$/.test(name);

/**
 * Every way through the schema to a record or a list of records, no type twice on one way, as far as what may be read
 * and one step beyond.
 */
function pathsFrom(
  type: GraphQLNamedType,
  above: Omit<Path, 'type' | 'isList'>,
  passed: readonly GraphQLNamedType[],
  scope: string,
): Path[] {
  if (isInterfaceType(type)) {
    return schema.getPossibleTypes(type).flatMap((possible) => {
      const document = (selection: string) =>
        above.document(`... on ${possible.name} { ${selection} }`);
      return pathsFrom(possible, { names: above.names, document }, [...passed, possible], scope);
    });
  }
  const required = scopeOf(type);
  if (required !== undefined && required !== scope) return [];
  return fieldsOf(type).flatMap((field) => {
    const named = getNamedType(field.type);
    if (isLeafType(named) || isLogged(field) || passed.includes(named)) return [];
    const isList = fieldsOf(named).some(({ name }) => name === 'edges');
    const node = isList ? fieldOf(fieldOf(named, 'edges'), 'node') : named;
    if (passed.includes(node)) return [];
    const needsId = field.args.some(({ name }) => name === 'id');
    if (field.args.some((arg) => isNonNullType(arg.type)) && !(needsId && ids[node.name])) {
      return [];
    }
    const called = needsId ? `${field.name}(id: "${ids[node.name]}")` : field.name;
    const path: Path = {
      names: [...above.names, field.name],
      document: (selection) => above.document(`${called} { ${selection} }`),
      type: node,
      isList,
    };
    if (!isList) return [path, ...pathsFrom(node, path, [...passed, node], scope)];
    const edges = {
      names: [...path.names, 'edges', 'node'],
      document: (selection: string) => path.document(`edges { node { ${selection} } }`),
    };
    return [path, ...pathsFrom(node, edges, [...passed, node], scope)];
  });
}

const leaves = (type: GraphQLNamedType) =>
  fieldsOf(type)
    .filter((field) => isLeafType(getNamedType(field.type)) && !isLogged(field))
    .filter(({ args }) => args.every((arg) => !isNonNullType(arg.type)))
    .map(({ name }) => name);

/** What is at the end of a path in an answer, through all its lists. */
function atEnd(data: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (data === null || data === undefined) return [];
  if (Array.isArray(data)) return data.flatMap((one) => atEnd(one, name ? [name, ...rest] : []));
  return name === undefined ? [data] : atEnd((data as Record<string, unknown>)[name], rest);
}

/** Every text in an answer, and what it holds where it is Base64. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value, Buffer.from(value, 'base64url').toString('latin1')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

const scopeOfPrefix = new Map(
  Object.entries(idPrefixes).flatMap(([kind, prefix]) => {
    const type = schema.getType(kind);
    const scope = kind === 'Event' ? 'events:read' : type && scopeOf(type);
    return scope === undefined ? [] : [[prefix as string, scope]];
  }),
);

const foreignIds = (data: unknown, scope: string) =>
  textsOf(data)
    .flatMap((text) => text.match(/[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}/g) ?? [])
    .filter((id) => scopeOfPrefix.get(id.split('_')[0] as string) !== scope);

const readScopes = [
  'users:read',
  'roles:read',
  'resources:read',
  'applications:read',
  'organizations:read',
  'webhooks:read',
  'events:read',
];

describe.each(readScopes)('with %s alone', (scope) => {
  test('no path reveals ids or counts of another area', async () => {
    const token = await service.managementToken(scope);
    const query = schema.getQueryType() as GraphQLNamedType;
    const root = { names: [], document: (selection: string) => `{ ${selection} }` };
    const paths = pathsFrom(query, root, [query], scope);
    const told: string[] = [];
    let read = 0;
    for (const { names, document, type, isList } of paths) {
      const required = scopeOf(type);
      const selection = isList
        ? 'totalCount pageInfo { startCursor endCursor } edges { cursor }'
        : leaves(type).join(' ') || '__typename';
      const { data, errors } = await send({ url: service.url, token }, document(selection));
      for (const { message, extensions } of errors ?? []) {
        // Where nobody gets to, there is nothing to be told.
        if (extensions['code'] === 'QUERY_TOO_COMPLEX') continue;
        if (extensions['code'] !== 'FORBIDDEN') told.push(`${names.join('.')}: ${message}`);
      }
      const found = atEnd(data, names);
      read += found.length;
      if (required !== undefined && required !== scope && found.length > 0) {
        told.push(`${names.join('.')} is there without ${required}`);
      }
      told.push(...foreignIds(data, scope).map((id) => `${names.join('.')} tells ${id}`));
    }
    expect(told).toEqual([]);
    expect(read).toBeGreaterThan(0);
  });
});

/** What a filter by an id takes beside the list's own scope; null where it is of the same area. */
const filters: Readonly<Record<string, string | null>> = {
  'users.roleId': 'roles:read',
  'users.organizationId': 'organizations:read',
  'users.notOrganizationId': 'organizations:read',
  'roles.scopeId': 'resources:read',
  'applications.roleId': 'roles:read',
  'applications.notOrganizationId': 'organizations:read',
  'organizations.userId': 'users:read',
  'organizations.applicationId': 'applications:read',
  'organizationInvitations.organizationId': null,
  'organizationInvitations.acceptedUserId': 'users:read',
  'organizationRoles.organizationScopeId': null,
  'organizationRoles.scopeId': 'resources:read',
  'scopes.resourceId': null,
  'trustedIssuers.applicationId': null,
  'crossAppConnections.applicationId': null,
};

const idFilters = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) => {
  const filter = getNamedType(field.args.find(({ name }) => name === 'filter')?.type);
  return isInputObjectType(filter)
    ? Object.values(filter.getFields())
        .filter(({ type }) => getNamedType(type).name === 'ID')
        .map(({ name }) => `${field.name}.${name}`)
    : [];
});

describe('a filter', () => {
  test('by an id is classified by required scope', () => {
    expect(idFilters.sort()).toEqual(Object.keys(filters).sort());
  });

  test.each(Object.entries(filters))(
    'by %s requires the scope of the named record',
    async (filter, beside) => {
      const [list = '', field = ''] = filter.split('.');
      const type = fieldOf(schema.getQueryType() as GraphQLNamedType, list);
      const own = scopeOf(fieldOf(fieldOf(type, 'edges'), 'node')) as string;
      const kind = field.replace(/^(accepted|not)/, '').replace(/Id$/, '');
      const id = ids[`${kind.charAt(0).toUpperCase()}${kind.slice(1)}`];
      const document = `{ ${list}(filter: { ${field}: "${id}" }) { totalCount } }`;
      const asking = async (scope: string) =>
        send({ url: service.url, token: await service.managementToken(scope) }, document);
      if (beside) {
        const { status, errors } = await asking(own);
        expect(status).toBe(403);
        expect(errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN', requiredScope: beside });
      }
      expect((await asking(beside ? `${own} ${beside}` : own)).status).toBe(200);
      const ignored = `{ ${list}(filter: { ${field}: null }) { totalCount } }`;
      const token = await service.managementToken(own);
      expect((await send({ url: service.url, token }, ignored)).status).toBe(200);
    },
  );

  test('by the event of a delivery requires events:read', async () => {
    const { eventId } = await service.app.services.database.prisma.delivery.findUniqueOrThrow({
      where: { id: ids['Delivery'] as string },
    });
    const document = `{ webhook(id: "${ids['Webhook']}") { deliveries(filter: { eventId: "${eventId}" }) { totalCount } } }`;
    const asking = async (scope: string) =>
      send({ url: service.url, token: await service.managementToken(scope) }, document);
    expect((await asking('webhooks:read')).errors?.[0]?.extensions).toEqual({
      code: 'FORBIDDEN',
      requiredScope: 'events:read',
    });
    expect((await asking('webhooks:read events:read')).data).toEqual({
      webhook: { deliveries: { totalCount: 1 } },
    });
  });
});

describe('members of an organization', () => {
  const page = (args: string) =>
    `{ organization(id: "${ids['Organization']}") { members(${args}) {
         totalCount edges { cursor node { createdAt user { id } } } pageInfo { hasNextPage endCursor } } } }`;
  interface Page {
    organization: {
      members: {
        totalCount: number;
        edges: { cursor: string; node: { user: { id: string } | null } }[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
    };
  }
  const reading = async (scope: string, args: string) =>
    send<Page>({ url: service.url, token: await service.managementToken(scope) }, page(args));

  test('are listed without users:read, the users null in their place', async () => {
    const { status, data, errors } = await reading('organizations:read', 'first: 5');
    expect(status).toBe(200);
    expect(data?.organization.members).toMatchObject({
      totalCount: 2,
      edges: [{ node: { user: null } }, { node: { user: null } }],
    });
    expect(errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', requiredScope: 'users:read' } },
      { extensions: { code: 'FORBIDDEN', requiredScope: 'users:read' } },
    ]);
  });

  test('have stable cursors that work in this list only', async () => {
    const scope = 'organizations:read users:read';
    const first = (await reading(scope, 'first: 1')).data?.organization.members;
    const again = (await reading('organizations:read', 'first: 1')).data?.organization.members;
    expect(again?.edges[0]?.cursor).toBe(first?.edges[0]?.cursor);
    expect(first?.pageInfo).toEqual({ hasNextPage: true, endCursor: first?.edges[0]?.cursor });
    const after = first?.pageInfo.endCursor;
    const second = (await reading(scope, `first: 1, after: "${after}"`)).data?.organization.members;
    expect(second?.pageInfo.hasNextPage).toBe(false);
    expect(second?.edges[0]?.node.user?.id).not.toBe(first?.edges[0]?.node.user?.id);
    const clear = Buffer.from(JSON.stringify([ids['User'], ids['User']])).toString('base64url');
    for (const wrong of [clear, `${after}A`, 'x', '']) {
      const { errors } = await reading(scope, `first: 1, after: "${wrong}"`);
      expect(errors?.[0]?.extensions['code']).toBe('BAD_USER_INPUT');
    }
  });
});
