import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { restRoutes } from '../../src/rest/routes.ts';
import { firstTypes } from '../support/events.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { membershipLists, organizationRoleLists } from '../support/operations/lists.ts';
import { createMaker } from '../support/operations/maker.ts';
import { type OperationCase, operationCases } from '../support/operations/operation-cases.ts';
import { type Input, overGraphQL, overRest } from '../support/operations/operations.ts';
import { logReader, type Told } from '../support/operations/told.ts';
import { startService } from '../support/service.ts';

interface Row {
  readonly operation: string;
  readonly rest: string;
  readonly when?: string;
  readonly events: readonly string[];
}

// The public catalogue: what outsiders build on.
const catalogue = JSON.parse(
  await readFile(new URL('../fixtures/events.json', import.meta.url), 'utf8'),
) as { managementOperations: Row[] };
const rows = catalogue.managementOperations;

const service = await startService();
const admin = await service.managementToken();
const { endOfLog, eventsSince } = logReader(service, admin);
const calls = { GraphQL: overGraphQL(service, admin), REST: overRest(service, admin) };
const make = createMaker(calls.GraphQL);
const cases = operationCases(make, seedDirectory(service.app.services.database, service.clock));
const { done } = make;

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const stamps = { createdAt: instant, updatedAt: instant };

/** Records in the field names of the contract's section 4.1, and nothing else. */
const records = {
  user: (values: object) => ({
    id: expect.stringMatching(/^user_/),
    username: expect.any(String),
    primaryEmail: null,
    primaryPhone: null,
    isEmailVerified: false,
    isPhoneVerified: false,
    name: null,
    avatar: null,
    profile: {},
    customData: {},
    isSuspended: false,
    hasPassword: false,
    lastSignInAt: null,
    ...stamps,
    ...values,
  }),
  role: (values: object) => ({
    id: expect.stringMatching(/^role_/),
    name: expect.any(String),
    description: null,
    type: 'USER',
    isDefault: false,
    ...stamps,
    ...values,
  }),
  scope: (values: object) => ({
    id: expect.stringMatching(/^scope_/),
    resourceId: expect.stringMatching(/^res_/),
    name: expect.any(String),
    description: null,
    ...stamps,
    ...values,
  }),
  organization: (values: object) => ({
    id: expect.stringMatching(/^org_/),
    name: expect.any(String),
    description: null,
    customData: {},
    requiresFactor: false,
    ...stamps,
    ...values,
  }),
  organizationRole: (values: object) => ({
    id: expect.stringMatching(/^orgrole_/),
    name: expect.any(String),
    description: null,
    type: 'USER',
    ...stamps,
    ...values,
  }),
  organizationScope: (values: object) => ({
    id: expect.stringMatching(/^orgscope_/),
    name: expect.any(String),
    description: null,
    ...stamps,
    ...values,
  }),
};

const change = (field: string, from: unknown, to: unknown) => ({
  changes: { [field]: { from, to } },
});
const text = expect.any(String);

const membership = (input: Input, lists: object) => membershipLists(input['organizationId'], lists);
const references = (ids: unknown) =>
  (ids as string[]).map((id) => ({ id, name: text, resourceId: expect.stringMatching(/^res_/) }));
const organizationReferences = (ids: unknown) =>
  (ids as string[]).map((id) => ({ id, name: text }));

interface Expectation {
  /** In place of the case's own input. */
  readonly given?: () => Promise<Input>;
  /** The data of each event, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation's payload has a shape of its own.
  readonly data: (input: Input, payload: any) => readonly object[];
  /** The second call of the same input: it changes nothing, or is refused. */
  readonly again: 'changes nothing' | 'is refused' | 'is another change';
}

const created = (record: keyof typeof records, values: (input: Input) => object): Expectation => ({
  data: (input, payload) => [records[record]({ id: payload[record].id, ...values(input) })],
  again: 'is another change',
});
const updated = (record: keyof typeof records, values: (input: Input) => object): Expectation => ({
  data: (input) => [records[record]({ id: input['id'], ...values(input) })],
  again: 'changes nothing',
});
const deleted = (record: keyof typeof records): Expectation => ({
  data: ({ id }) => [records[record]({ id })],
  again: 'is refused',
});

const expectations: Readonly<Record<string, Expectation>> = {
  createUser: {
    ...created('user', ({ username }) => ({ username, name: 'New', hasPassword: true })),
    again: 'is refused',
  },
  deleteUser: deleted('user'),
  updateUser: updated('user', () => ({ name: 'Changed', ...change('name', null, 'Changed') })),
  updateUserCustomData: updated('user', () => ({
    customData: { plan: 'free' },
    ...change('customData', {}, { plan: 'free' }),
  })),
  updateUserProfile: updated('user', () => ({
    profile: { locale: 'de' },
    ...change('profile', {}, { locale: 'de' }),
  })),
  updateUserPassword: {
    ...updated('user', () => ({ hasPassword: true, ...change('hasPassword', false, true) })),
    again: 'is another change',
  },
  updateUserSuspensionStatus: updated('user', () => ({
    isSuspended: true,
    ...change('isSuspended', false, true),
  })),

  createRole: {
    ...created('role', ({ name }) => ({ name })),
    given: async () => ({ name: make.next('plain') }),
    again: 'is refused',
  },
  'createRole when scopes are given': {
    data: (input, { role }) => [
      records.role({ id: role.id, name: input['name'] }),
      { roleId: role.id, addedScopes: references(input['scopeIds']), removedScopes: [] },
    ],
    again: 'is refused',
  },
  deleteRole: deleted('role'),
  updateRole: updated('role', ({ name }) => ({ name, ...change('name', text, name) })),
  addRoleScopes: {
    data: ({ roleId, scopeIds }) => [
      { roleId, addedScopes: references(scopeIds), removedScopes: [] },
    ],
    again: 'changes nothing',
  },
  removeRoleScope: {
    data: ({ roleId, scopeId }) => [
      { roleId, addedScopes: [], removedScopes: references([scopeId]) },
    ],
    again: 'is refused',
  },

  createScope: {
    ...created('scope', ({ name, resourceId }) => ({ name, resourceId })),
    again: 'is refused',
  },
  deleteScope: deleted('scope'),
  updateScope: updated('scope', ({ name }) => ({ name, ...change('name', text, name) })),

  createOrganization: created('organization', () => ({ name: 'New', customData: { seats: 3 } })),
  deleteOrganization: deleted('organization'),
  updateOrganization: updated('organization', ({ name }) => ({
    name,
    ...change('name', text, name),
  })),
  replaceOrganizationUsers: {
    async given() {
      const { organizationId, userId } = await make.member();
      const stays = await make.user();
      await done('addOrganizationUsers', { organizationId, userIds: [stays] });
      return { organizationId, userIds: [stays, await make.user()], leaves: userId };
    },
    data: (input) => [
      membership(input, {
        addedUserIds: (input['userIds'] as string[]).slice(1),
        removedUserIds: [input['leaves']],
      }),
    ],
    again: 'changes nothing',
  },
  addOrganizationUsers: {
    data: (input) => [
      membership(input, { addedUserIds: expect.toSatisfy(isSameSet(input['userIds'])) }),
    ],
    again: 'changes nothing',
  },
  removeOrganizationUser: {
    data: (input) => [membership(input, { removedUserIds: [input['userId']] })],
    again: 'is refused',
  },
  replaceOrganizationApplications: {
    async given() {
      const { organizationId, applicationId } = await make.applicationMember();
      return {
        organizationId,
        applicationIds: [await make.application()],
        leaves: applicationId,
      };
    },
    data: (input) => [
      membership(input, {
        addedApplicationIds: input['applicationIds'],
        removedApplicationIds: [input['leaves']],
      }),
    ],
    again: 'changes nothing',
  },
  addOrganizationApplications: {
    data: (input) => [membership(input, { addedApplicationIds: input['applicationIds'] })],
    again: 'changes nothing',
  },
  removeOrganizationApplication: {
    data: (input) => [membership(input, { removedApplicationIds: [input['applicationId']] })],
    again: 'is refused',
  },
  'updateOrganizationInvitationStatus when the new status is ACCEPTED': {
    data: ({ acceptedUserId }) => [
      membership(
        { organizationId: expect.stringMatching(/^org_/) },
        { addedUserIds: [acceptedUserId] },
      ),
    ],
    again: 'is refused',
  },
  'updateOrganizationInvitationStatus when the new status is REVOKED': {
    given: async () => ({ id: await make.invitation(), status: 'REVOKED' }),
    data: () => [],
    again: 'is refused',
  },

  createOrganizationRole: {
    ...created('organizationRole', ({ name }) => ({ name })),
    given: async () => ({ name: make.next('plain') }),
    again: 'is refused',
  },
  'createOrganizationRole when organization scopes or resource scopes are given': {
    data: (input, { organizationRole: { id } }) => [
      records.organizationRole({ id, name: input['name'] }),
      organizationRoleLists(id, {
        addedScopes: organizationReferences(input['organizationScopeIds']),
        addedResourceScopes: references(input['scopeIds']),
      }),
    ],
    again: 'is refused',
  },
  deleteOrganizationRole: deleted('organizationRole'),
  updateOrganizationRole: updated('organizationRole', ({ name }) => ({
    name,
    ...change('name', text, name),
  })),
  createOrganizationScope: {
    ...created('organizationScope', ({ name }) => ({ name })),
    again: 'is refused',
  },
  deleteOrganizationScope: deleted('organizationScope'),
  updateOrganizationScope: updated('organizationScope', ({ name }) => ({
    name,
    ...change('name', text, name),
  })),
  replaceOrganizationRoleScopes: {
    async given() {
      const leaves = await make.organizationScope();
      return {
        organizationRoleId: await make.organizationRole({ organizationScopeIds: [leaves] }),
        organizationScopeIds: [await make.organizationScope()],
        leaves,
      };
    },
    data: ({ organizationRoleId, organizationScopeIds, leaves }) => [
      organizationRoleLists(organizationRoleId, {
        addedScopes: organizationReferences(organizationScopeIds),
        removedScopes: organizationReferences([leaves]),
      }),
    ],
    again: 'changes nothing',
  },
  addOrganizationRoleScopes: {
    data: ({ organizationRoleId, organizationScopeIds }) => [
      organizationRoleLists(organizationRoleId, {
        addedScopes: organizationReferences(organizationScopeIds),
      }),
    ],
    again: 'changes nothing',
  },
  removeOrganizationRoleScope: {
    data: ({ organizationRoleId, organizationScopeId }) => [
      organizationRoleLists(organizationRoleId, {
        removedScopes: organizationReferences([organizationScopeId]),
      }),
    ],
    again: 'is refused',
  },
};

function isSameSet(expected: unknown) {
  return (actual: unknown) =>
    Array.isArray(actual) &&
    JSON.stringify([...actual].sort()) === JSON.stringify([...(expected as string[])].sort());
}

const titleOf = ({ operation, when }: Row) => (when ? `${operation} when ${when}` : operation);

test('every row has an expectation, and every expectation a row', () => {
  expect(Object.keys(expectations).sort()).toEqual(rows.map(titleOf).sort());
});

test('every row has its route', () => {
  const routes = new Set(
    restRoutes.map(({ method, path, operation }) => `${operation}: ${method} ${path}`),
  );
  const missing = rows
    .map(({ operation, rest }) => `${operation}: ${rest}`)
    .filter((route) => !routes.has(route));
  expect(missing).toEqual([]);
});

describe.each(['GraphQL', 'REST'] as const)('over %s', (via) => {
  const call = calls[via];
  const titled = rows.map((row) => ({ title: titleOf(row), row }));

  test.each(titled)('$title raises the events of the catalogue', async ({ title, row }) => {
    const { given, data, again } = expectations[title] as Expectation;
    const make = given ?? (cases[row.operation] as OperationCase).given;
    const { leaves, ...input } = await make();

    const before = await endOfLog();
    const outcome = await call(row.operation, input);
    expect(outcome).toMatchObject({ code: 'OK' });
    const told = (await eventsSince(before)).filter(({ name }) => firstTypes.has(name));
    expect(told.map(({ name }) => name)).toEqual(row.events);
    expect(told.map((event) => event.data)).toEqual(data({ ...input, leaves }, outcome.payload));
    const actor = { type: 'APPLICATION', id: service.admin.id };
    expect(told.map((event) => event.actor)).toEqual(row.events.map(() => actor));

    if (again === 'is another change') return;
    const afterwards = await endOfLog();
    const second = await call(row.operation, input);
    expect(second.code === 'OK' ? 'changes nothing' : 'is refused').toBe(again);
    expect(await eventsSince(afterwards)).toEqual([]);
  });

  test.each([
    ['assignUserRoles', 'User.Roles.Updated'],
    ['replaceUserRoles', 'User.Roles.Updated'],
    ['removeUserRole', 'User.Roles.Updated'],
    ['assignApplicationRoles', 'Application.Roles.Updated'],
    ['replaceApplicationRoles', 'Application.Roles.Updated'],
    ['removeApplicationRole', 'Application.Roles.Updated'],
    ['assignOrganizationUserRoles', 'Organization.MemberRoles.Updated'],
    ['replaceOrganizationUserRoles', 'Organization.MemberRoles.Updated'],
    ['removeOrganizationUserRole', 'Organization.MemberRoles.Updated'],
    ['assignOrganizationApplicationRoles', 'Organization.MemberRoles.Updated'],
    ['replaceOrganizationApplicationRoles', 'Organization.MemberRoles.Updated'],
    ['removeOrganizationApplicationRole', 'Organization.MemberRoles.Updated'],
  ])('%s raises %s, and nothing if it changes nothing', async (operation, type) => {
    const input = (await cases[operation]?.given()) as Input;
    const before = await endOfLog();
    expect(await call(operation, input)).toMatchObject({ code: 'OK' });
    const told = await eventsSince(before);
    expect(told.map(({ name }) => name)).toEqual([type]);
    const { data } = told[0] as Told;
    const [added, removed] = ['added', 'removed'].map((list) =>
      Object.entries(data).flatMap(([field, ids]) =>
        field.startsWith(list) ? (ids as string[]) : [],
      ),
    );
    const given = [input['roleIds'] ?? input['organizationRoleIds'] ?? []].flat();
    const taken = [input['roleId'] ?? input['organizationRoleId'] ?? []].flat();
    expect(added).toEqual(given);
    expect(removed).toEqual(taken);
    const end = await endOfLog();
    await call(operation, input);
    expect(await eventsSince(end)).toEqual([]);
  });
});
