import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { fetchClientToken } from '../support/client-credentials.ts';
import { send } from '../support/operations/graphql.ts';
import { startOrganizations } from './fixture.ts';

const o = await startOrganizations();
const { prisma, directory, mutate, service } = o;

type Edges = { edges: { cursor: string; node: { id: string } }[]; totalCount: number };
const idsOf = ({ edges }: Edges) => edges.map(({ node }) => node.id);

async function createOrganization(input: object): Promise<string> {
  const { organization } = await mutate('createOrganization', input, 'organization { id }');
  return (organization as { id: string }).id;
}

async function list(filter: object, orderBy?: object): Promise<string[]> {
  const data = await o.query(
    `query ($filter: OrganizationFilter, $orderBy: OrganizationOrder) {
      organizations(filter: $filter, orderBy: $orderBy) { totalCount edges { node { id } } }
    }`,
    { filter, orderBy },
  );
  const organizations = data['organizations'] as Edges;
  expect(organizations.totalCount).toBe(organizations.edges.length);
  return idsOf(organizations);
}

describe('organizations', () => {
  test('are found by filters, in the requested order', async () => {
    const b = await createOrganization({ name: 'Reading B', description: 'Zebra crossing' });
    const a = await createOrganization({ name: 'reading a' });
    const [userId = ''] = await o.createUsers(1);
    const applicationId = (await directory.createClient()).id;
    await mutate('addOrganizationUsers', { organizationId: a, userIds: [userId] });
    await mutate('addOrganizationApplications', {
      organizationId: b,
      applicationIds: [applicationId],
    });
    await mutate('addOrganizationEmailDomain', { organizationId: a, domain: 'reading.example' });

    expect(await list({ search: 'READING' })).toEqual([a, b]);
    expect(await list({ search: 'reading' }, { field: 'CREATED_AT' })).toEqual([b, a]);
    expect(await list({ search: 'reading' }, { field: 'NAME', direction: 'DESC' })).toEqual([a, b]);
    await mutate('updateOrganization', { id: b, description: 'Zebra' });
    expect(await list({ search: 'reading' }, { field: 'UPDATED_AT', direction: 'DESC' })).toEqual([
      b,
      a,
    ]);
    expect(await list({ search: 'zebra' })).toEqual([b]);
    expect(await list({ search: a.slice(4) })).toEqual([a]);
    expect(await list({ userId })).toEqual([a]);
    expect(await list({ applicationId })).toEqual([b]);
    expect(await list({ emailDomain: 'Reading.Example' })).toEqual([a]);
    const { createdAt } = await prisma.organization.findUniqueOrThrow({ where: { id: a } });
    expect(await list({ search: 'reading', createdBefore: createdAt })).toEqual([b]);
    expect(await list({ search: 'reading', createdAfter: createdAt })).toEqual([]);
    expect(await list({ search: 'nothing has this' })).toEqual([]);
  });

  test('and their parts are nodes, or null when unknown', async () => {
    const organizationId = await o.createOrganization();
    const organizationRole = await o.createRole();
    const organizationScope = (await o.createScope()).id;
    const created = await mutate(
      'createOrganizationInvitation',
      { organizationId, invitee: 'node@example.com' },
      'organizationInvitation { id }',
    );
    const invitation = (created['organizationInvitation'] as { id: string }).id;
    const ids = [organizationId, organizationRole, organizationScope, invitation];
    const data = await o.query(
      `query ($ids: [ID!]!, $org: ID!, $role: ID!, $scope: ID!, $inv: ID!) {
        nodes(ids: $ids) { __typename id }
        organization(id: $org) { id }
        organizationRole(id: $role) { id }
        organizationScope(id: $scope) { id }
        organizationInvitation(id: $inv) { id }
      }`,
      {
        ids,
        org: organizationId,
        role: organizationRole,
        scope: organizationScope,
        inv: newId('OrganizationInvitation'),
      },
    );
    expect(data).toEqual({
      nodes: [
        { __typename: 'Organization', id: organizationId },
        { __typename: 'OrganizationRole', id: organizationRole },
        { __typename: 'OrganizationScope', id: organizationScope },
        { __typename: 'OrganizationInvitation', id: invitation },
      ],
      organization: { id: organizationId },
      organizationRole: { id: organizationRole },
      organizationScope: { id: organizationScope },
      organizationInvitation: null,
    });
  });
});

describe('organization roles and scopes', () => {
  test('are found by text, type and the scopes they hold', async () => {
    const resource = await directory.createResource(['find']);
    const scope = await prisma.scope.findFirstOrThrow({ where: { resourceId: resource.id } });
    const organizationScope = await o.createScope();
    const created = await mutate(
      'createOrganizationRole',
      {
        name: 'Finder of things',
        type: 'MACHINE_TO_MACHINE',
        organizationScopeIds: [organizationScope.id],
        scopeIds: [scope.id],
      },
      'organizationRole { id }',
    );
    const { id } = created['organizationRole'] as { id: string };
    await o.createRole('MACHINE_TO_MACHINE');
    for (const filter of [
      { search: 'finder OF' },
      { search: 'finder', type: 'MACHINE_TO_MACHINE' },
      { organizationScopeId: organizationScope.id },
      { scopeId: scope.id },
    ]) {
      const data = await o.query(
        `query ($filter: OrganizationRoleFilter) {
          organizationRoles(filter: $filter, orderBy: { field: NAME }) { totalCount edges { cursor node { id } } }
        }`,
        { filter },
      );
      expect(data['organizationRoles']).toMatchObject({ totalCount: 1, edges: [{ node: { id } }] });
    }
    const scopes = await o.query(
      `query ($filter: OrganizationScopeFilter) {
        organizationScopes(filter: $filter) { totalCount edges { node { id name } } }
      }`,
      { filter: { search: organizationScope.name.toUpperCase() } },
    );
    expect(scopes['organizationScopes']).toEqual({
      totalCount: 1,
      edges: [{ node: organizationScope }],
    });
  });
});

describe('a list inside a record', () => {
  type Page = Edges & { pageInfo: Record<string, unknown> };
  async function members(id: string, paging: string): Promise<Page> {
    const data = await o.query(
      `query ($id: ID!) { organization(id: $id) { members(${paging}) {
        totalCount
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        edges { cursor node { user { id } } }
      } } }`,
      { id },
    );
    const { members: page } = data['organization'] as {
      members: Omit<Page, 'edges'> & {
        edges: { cursor: string; node: { user: { id: string } } }[];
      };
    };
    const edges = page.edges.map(({ cursor, node }) => ({ cursor, node: { id: node.user.id } }));
    return { ...page, edges };
  }

  test('pages both ways, and continues after a removed member', async () => {
    const id = await o.createOrganization();
    const users = await o.createUsers(5);
    await mutate('addOrganizationUsers', { organizationId: id, userIds: users });

    const first = await members(id, 'first: 2');
    expect(idsOf(first)).toEqual(users.slice(0, 2));
    expect(first).toMatchObject({
      totalCount: 5,
      pageInfo: {
        hasNextPage: true,
        hasPreviousPage: false,
        startCursor: first.edges[0]?.cursor,
        endCursor: first.edges[1]?.cursor,
      },
    });
    await mutate('removeOrganizationUser', { organizationId: id, userId: users[1] });
    const end = String(first.pageInfo['endCursor']);
    const second = await members(id, `first: 3, after: "${end}"`);
    expect(idsOf(second)).toEqual(users.slice(2));
    expect(second).toMatchObject({
      totalCount: 4,
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
    });

    const last = await members(id, 'last: 2');
    expect(idsOf(last)).toEqual(users.slice(3));
    expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const before = await members(id, `last: 2, before: "${last.edges[0]?.cursor}"`);
    expect(idsOf(before)).toEqual([users[0], users[2]]);
    expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });

    const between = `after: "${before.edges[0]?.cursor}", before: "${last.edges[1]?.cursor}"`;
    expect(idsOf(await members(id, `first: 10, ${between}`))).toEqual([users[2], users[3]]);
    expect(idsOf(await members(id, 'first: 0'))).toEqual([]);
  });

  test.each(['first: 101', 'first: -1', 'first: 1, last: 1', 'first: 1, after: "x"'])(
    'refuses %s',
    async (paging) => {
      const id = await o.createOrganization();
      const { status, errors } = await send(
        o.endpoint,
        `{ organization(id: "${id}") { members(${paging}) { edges { cursor } } } }`,
      );
      expect(status).toBe(400);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    },
  );

  test('can be read twice in one query, by alias', async () => {
    const id = await o.createOrganization();
    const users = await o.createUsers(3);
    await mutate('addOrganizationUsers', { organizationId: id, userIds: users });
    const data = await o.query(
      `query ($id: ID!) { organization(id: $id) {
        one: members(first: 1) { totalCount edges { node { user { id } } } }
        two: members(last: 2) { edges { node { user { id } } } }
        counted: members { totalCount }
      } }`,
      { id },
    );
    const node = (user?: string) => ({ node: { user: { id: user } } });
    expect(data['organization']).toEqual({
      one: { totalCount: 3, edges: [node(users[0])] },
      two: { edges: [node(users[1]), node(users[2])] },
      counted: { totalCount: 3 },
    });
  });

  test('shows the organizations of users and applications, with roles', async () => {
    const organizationIds = [await o.createOrganization(), await o.createOrganization()];
    const [userId = ''] = await o.createUsers(1);
    const applicationId = (await directory.createClient()).id;
    const [role, machineRole] = [await o.createRole(), await o.createRole('MACHINE_TO_MACHINE')];
    for (const organizationId of organizationIds) {
      await mutate('addOrganizationUsers', { organizationId, userIds: [userId] });
      await mutate('addOrganizationApplications', {
        organizationId,
        applicationIds: [applicationId],
      });
    }
    const [first, second] = organizationIds;
    await mutate('assignOrganizationUserRoles', {
      organizationId: first,
      userId,
      organizationRoleIds: [role],
    });
    await mutate('assignOrganizationApplicationRoles', {
      organizationId: second,
      applicationId,
      organizationRoleIds: [machineRole],
    });
    const edges = `totalCount edges { node { id } roles { totalCount edges { node { id } } } }`;
    const data = await o.query(
      `query ($user: ID!, $application: ID!) {
        user(id: $user) { organizations { ${edges} } }
        application(id: $application) { organizations { ${edges} } }
      }`,
      { user: userId, application: applicationId },
    );
    const edge = (id: string | undefined, ...roles: string[]) => ({
      node: { id },
      roles: { totalCount: roles.length, edges: roles.map((held) => ({ node: { id: held } })) },
    });
    expect(data).toEqual({
      user: { organizations: { totalCount: 2, edges: [edge(first, role), edge(second)] } },
      application: {
        organizations: { totalCount: 2, edges: [edge(first), edge(second, machineRole)] },
      },
    });
  });
});

describe('a right', async () => {
  const reads: [string, string, string][] = [
    ['organization', 'organizations:read', '{ organization(id: "$org") { id } }'],
    ['organizations', 'organizations:read', '{ organizations { totalCount } }'],
    ['organizationRole', 'organizations:read', '{ organizationRole(id: "$role") { id } }'],
    ['organizationRoles', 'organizations:read', '{ organizationRoles { totalCount } }'],
    ['organizationScope', 'organizations:read', '{ organizationScope(id: "$scope") { id } }'],
    ['organizationScopes', 'organizations:read', '{ organizationScopes { totalCount } }'],
    ['organizationInvitations', 'organizations:read', '{ organizationInvitations { totalCount } }'],
    ['node', 'organizations:read', '{ node(id: "$org") { id ... on Organization { name } } }'],
    ['node of a role', 'organizations:read', '{ node(id: "$role") { id } }'],
    [
      'organizations of a user',
      'organizations:read',
      '{ user(id: "$user") { organizations { edges { cursor } } } }',
    ],
    [
      'members as users',
      'users:read',
      '{ organization(id: "$org") { members { edges { node { user { id } } } } } }',
    ],
    [
      'members as applications',
      'applications:read',
      '{ organization(id: "$org") { applications { edges { node { application { id } } } } } }',
    ],
    [
      'who accepted an invitation',
      'users:read',
      '{ organizationInvitations(filter: { status: ACCEPTED, organizationId: "$org" }) { edges { node { acceptedUser { id } } } } }',
    ],
    [
      'scopes of resources',
      'resources:read',
      '{ organizationRole(id: "$role") { resourceScopes { edges { node { id } } } } }',
    ],
  ];
  const all = ['users:read', 'applications:read', 'organizations:read', 'resources:read'];

  test.each(reads)('to read %s is %s, on this path too', async (_what, scope, document) => {
    const resource = await directory.createResource(['seen']);
    const { id: scopeId } = await prisma.scope.findFirstOrThrow({
      where: { resourceId: resource.id },
    });
    const org = await o.createOrganization();
    const role = await o.createRole();
    const address = `${org.slice(4)}@example.com`;
    const user = await directory.createUser({ primaryEmail: address });
    const application = (await directory.createClient()).id;
    await mutate('addOrganizationUsers', { organizationId: org, userIds: [user.id] });
    await mutate('addOrganizationApplications', {
      organizationId: org,
      applicationIds: [application],
    });
    await mutate('addOrganizationRoleResourceScopes', {
      organizationRoleId: role,
      scopeIds: [scopeId],
    });
    const created = await mutate(
      'createOrganizationInvitation',
      { organizationId: org, invitee: address },
      'organizationInvitation { id }',
    );
    const { id } = created['organizationInvitation'] as { id: string };
    await mutate('updateOrganizationInvitationStatus', {
      id,
      status: 'ACCEPTED',
      acceptedUserId: user.id,
    });
    const ids: Record<string, string> = {
      org,
      role,
      user: user.id,
      scope: (await o.createScope()).id,
    };
    const query = document.replaceAll(/\$(\w+)/g, (_match, name: string) => ids[name] ?? '');

    const others = all.filter((held) => held !== scope).join(' ');
    const refused = await send(
      { url: service.url, token: await service.managementToken(others) },
      query,
    );
    expect(refused.errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', requiredScope: scope } },
    ]);
    const allowed = await send(
      { url: service.url, token: await service.managementToken(all.join(' ')) },
      query,
    );
    expect(allowed.errors).toBeUndefined();
  });

  const orders = await directory.createResource(['read']);
  const otherToken = await fetchClientToken(service, service.admin, { resource: orders.indicator });
  const organizationId = newId('Organization');
  const user = { organizationId, userId: newId('User') };
  const application = { organizationId, applicationId: newId('Application') };
  const organizationRoleId = newId('OrganizationRole');
  const role = { organizationRoleId };
  const roles = { organizationRoleIds: [organizationRoleId] };
  const users = { organizationId, userIds: [user.userId] };
  const applications = { organizationId, applicationIds: [application.applicationId] };
  const scopes = { ...role, organizationScopeIds: [newId('OrganizationScope')] };
  const invitationId = newId('OrganizationInvitation');
  const domain = { organizationId, domain: 'example.com' };

  test.each<[string, object]>([
    ['createOrganization', { name: 'x' }],
    ['updateOrganization', { id: organizationId, name: 'x' }],
    ['deleteOrganization', { id: organizationId }],
    ['addOrganizationUsers', users],
    ['removeOrganizationUser', user],
    ['replaceOrganizationUsers', users],
    ['addOrganizationApplications', applications],
    ['removeOrganizationApplication', application],
    ['replaceOrganizationApplications', applications],
    ['assignOrganizationUserRoles', { ...user, ...roles }],
    ['removeOrganizationUserRole', { ...user, ...role }],
    ['replaceOrganizationUserRoles', { ...user, ...roles }],
    ['assignOrganizationApplicationRoles', { ...application, ...roles }],
    ['removeOrganizationApplicationRole', { ...application, ...role }],
    ['replaceOrganizationApplicationRoles', { ...application, ...roles }],
    ['createOrganizationRole', { name: 'x' }],
    ['updateOrganizationRole', { id: organizationRoleId, name: 'x' }],
    ['deleteOrganizationRole', { id: organizationRoleId }],
    ['addOrganizationRoleScopes', scopes],
    ['removeOrganizationRoleScope', { ...role, organizationScopeId: newId('OrganizationScope') }],
    ['replaceOrganizationRoleScopes', scopes],
    ['addOrganizationRoleResourceScopes', { ...role, scopeIds: [newId('Scope')] }],
    ['removeOrganizationRoleResourceScope', { ...role, scopeId: newId('Scope') }],
    ['createOrganizationScope', { name: 'x' }],
    ['updateOrganizationScope', { id: newId('OrganizationScope'), name: 'x' }],
    ['deleteOrganizationScope', { id: newId('OrganizationScope') }],
    ['createOrganizationInvitation', { organizationId, invitee: 'x@example.com' }],
    ['updateOrganizationInvitationStatus', { id: invitationId, status: 'REVOKED' }],
    ['deleteOrganizationInvitation', { id: invitationId }],
    ['addOrganizationEmailDomain', domain],
    ['removeOrganizationEmailDomain', domain],
    ['replaceOrganizationJitRoles', { organizationId, ...roles }],
  ])(
    'to do %s is organizations:write, of a token for the management API',
    async (mutation, input) => {
      const before = await o.snapshot();
      const reader = await service.managementToken('organizations:read users:write');
      expect(await o.sendMutation(mutation, input, '__typename', reader)).toMatchObject({
        status: 403,
        errors: [{ extensions: { code: 'FORBIDDEN', requiredScope: 'organizations:write' } }],
      });
      expect(await o.sendMutation(mutation, input, '__typename', otherToken)).toMatchObject({
        status: 401,
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      });
      expect(await o.snapshot()).toEqual(before);
    },
  );
});
