import { beforeAll, describe, expect, test } from 'vitest';
import { send } from '../../support/operations/graphql.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };

async function ask<Data>(query: string): Promise<Data> {
  const { data, errors } = await send<Data>(endpoint, query);
  if (!data || errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
  return data;
}

const { created } = await ask<{ created: { resource: { id: string } } }>(
  `mutation { created: createResource(input: { name: "Parcels", indicator: "https://parcels.example.com" }) {
    ... on CreateResourcePayload { resource { id } } } }`,
);
const api = created.resource.id;

/** The query for one record, the query for the list, and the mutation's input for a record of a name. */
const records: readonly [one: string, list: string, input: (name: string) => string][] = [
  ['user', 'users', (name) => `name: "${name}"`],
  ['role', 'roles', (name) => `name: "${name}"`],
  [
    'resource',
    'resources',
    (name) => `name: "${name}", indicator: "https://${name.replace(' ', '-')}.example.com"`,
  ],
  ['application', 'applications', (name) => `name: "${name}", type: SPA`],
  ['organization', 'organizations', (name) => `name: "${name}"`],
  ['organizationRole', 'organizationRoles', (name) => `name: "${name}"`],
  ['organizationScope', 'organizationScopes', (name) => `name: "${name.replace(' ', ':')}"`],
  ['scope', 'scopes', (name) => `resourceId: "${api}", name: "${name.replace(' ', ':')}"`],
  ['webhook', 'webhooks', (name) => `name: "${name}", url: "https://hooks.example.com"`],
];

async function create(one: string, input: string): Promise<string> {
  const type = `${one.charAt(0).toUpperCase()}${one.slice(1)}`;
  service.clock.advance(1000);
  const { created } = await ask<{ created: Record<string, { id: string }> }>(
    `mutation { created: create${type}(input: { ${input} }) {
      ... on Create${type}Payload { ${one} { id } } ... on Error { message } } }`,
  );
  const record = created[one];
  if (!record) throw new Error(JSON.stringify(created));
  return record.id;
}

async function list(name: string, args: string): Promise<string[]> {
  const data = await ask<Record<string, { edges: { node: { id: string } }[] }>>(
    `{ ${name}(${args}) { edges { node { id } } } }`,
  );
  return data[name]?.edges.map(({ node }) => node.id) ?? [];
}

describe.each(records)('the queries %s and %s', (one, name, inputFor) => {
  let earlier: string;
  let later: string;
  beforeAll(async () => {
    earlier = await create(one, inputFor('listed b'));
    later = await create(one, inputFor('listed a'));
  });

  test('find a record by its id', async () => {
    const find = (id: string) => ask(`{ ${one}(id: "${id}") { id } }`);
    expect(await find(earlier)).toEqual({ [one]: { id: earlier } });
    expect(await find(`${earlier}x`)).toEqual({ [one]: null });
  });

  test('list the matches, newest first by default', async () => {
    expect(await list(name, 'filter: { search: "LISTED" }')).toEqual([later, earlier]);
    expect(await list(name, `filter: { search: "${earlier}" }`)).toEqual([earlier]);
  });

  test('list them in the order asked for', async () => {
    const ordered = (orderBy: string) =>
      list(name, `filter: { search: "listed" }, orderBy: { ${orderBy} }`);
    expect(await ordered('field: CREATED_AT')).toEqual([earlier, later]);
    expect(await ordered('field: CREATED_AT, direction: DESC')).toEqual([later, earlier]);
    expect(await ordered('field: NAME')).toEqual([later, earlier]);
    expect(await ordered('field: NAME, direction: DESC')).toEqual([earlier, later]);
  });
});

describe('a filter', () => {
  let ids: Record<'user' | 'default' | 'machine' | 'service' | 'native' | 'scope', string>;
  beforeAll(async () => {
    const resource = await create(
      'resource',
      'name: "filtered", indicator: "https://filtered.example.com"',
    );
    const scope = await create('scope', `resourceId: "${resource}", name: "filtered"`);
    const machine = await create(
      'role',
      `name: "filtered machine", type: MACHINE_TO_MACHINE, scopeIds: ["${scope}"]`,
    );
    const app = await create(
      'application',
      'name: "filtered service", type: MACHINE_TO_MACHINE, allowTokenExchange: true',
    );
    await ask(
      `mutation { assignApplicationRoles(input: { applicationId: "${app}", roleIds: ["${machine}"] }) { __typename } }`,
    );
    ids = {
      scope,
      machine,
      service: app,
      user: await create('role', 'name: "filtered user"'),
      default: await create('role', 'name: "filtered default", isDefault: true'),
      native: await create('application', 'name: "filtered app", type: NATIVE'),
    };
  });

  test.each<[list: string, filter: string, found: (keyof typeof ids)[]]>([
    ['roles', 'type: MACHINE_TO_MACHINE', ['machine']],
    ['roles', 'isDefault: true', ['default']],
    ['roles', 'isDefault: false', ['user', 'machine']],
    ['roles', 'isDefault: null, type: USER', ['default', 'user']],
    ['roles', 'scopeId: "$scope"', ['machine']],
    ['roles', 'scopeId: "$scope", type: USER', []],
    ['applications', 'types: [NATIVE, SPA]', ['native']],
    ['applications', 'types: []', []],
    ['applications', 'types: null', ['native', 'service']],
    ['applications', 'allowTokenExchange: false', ['native']],
    ['applications', 'roleId: "$machine"', ['service']],
  ])('of %s by %s finds %j', async (name, filter, found) => {
    const given = filter.replace(/\$(\w+)/, (_, key) => ids[key as keyof typeof ids]);
    expect(await list(name, `filter: { search: "filtered", ${given} }`)).toEqual(
      found.map((key) => ids[key]),
    );
  });
});

// A name can be null, an instant cannot.
test.each(['after', 'before'])(
  'the cursor of a user without a name is refused as %s among instants',
  async (end) => {
    const id = await create('user', `username: "nameless_${end}"`);
    const { users } = await ask<{ users: { edges: { cursor: string; node: { id: string } }[] } }>(
      '{ users(first: 100, orderBy: { field: NAME }) { edges { cursor node { id } } } }',
    );
    const cursor = users.edges.find(({ node }) => node.id === id)?.cursor;
    const { errors } = await send(
      endpoint,
      `{ users(${end}: "${cursor}", orderBy: { field: UPDATED_AT }) { edges { node { id } } } }`,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  },
);
