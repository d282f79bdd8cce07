import { getNamedType, isObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { mayReadReplica } from '../../../src/graphql/operations/reading.ts';
import { newId } from '../../../src/ids.ts';
import { schema } from '../../../src/schema.ts';

const queries = schema.getQueryType()?.getFields() ?? {};
const mayRead = (source: string, variableValues?: Record<string, unknown>) =>
  mayReadReplica({ schema, document: parse(source), variableValues });

/** The place of each root field. `node` and `nodes` are read where the type of the id is. */
const places = {
  replica: [
    'application',
    'applications',
    'crossAppConnection',
    'crossAppConnections',
    'identityProvider',
    'identityProviders',
    'message',
    'node',
    'nodes',
    'organization',
    'organizationInvitation',
    'organizationInvitations',
    'organizationRole',
    'organizationRoles',
    'organizationScope',
    'organizationScopes',
    'organizations',
    'resource',
    'resources',
    'role',
    'roles',
    'scope',
    'scopes',
    'statistics',
    'trustedIssuer',
    'trustedIssuers',
    'user',
    'users',
    'webhook',
    'webhooks',
  ],
  primary: [
    'configuration',
    'events',
    'explainTokenExchange',
    'messageSenders',
    'permissions',
    'registrationToken',
    'registrationTokens',
    'service',
    'serviceSettings',
    'signInExperience',
    'signingKeys',
    'whoCan',
  ],
};

test('each query is read at the place that is decided for it', () => {
  const found: typeof places = { replica: [], primary: [] };
  for (const name of Object.keys(queries))
    found[mayRead(`{ ${name} { __typename } }`) ? 'replica' : 'primary'].push(name);
  expect(found).toEqual(places);
});

test('what is read at the primary is so below other records', () => {
  const below: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === 'Node')) continue;
    if (!mayRead(`{ node(id: "") { ... on ${type.name} { id } } }`)) continue;
    for (const [field, { type: result }] of Object.entries(type.getFields())) {
      const selection = isObjectType(getNamedType(result)) ? '{ __typename }' : '';
      if (!mayRead(`{ node(id: "") { ... on ${type.name} { ${field} ${selection} } } }`))
        below.push(`${type.name}.${field}`);
    }
  }
  expect(below).toEqual([
    'Application.grants',
    'Application.secrets',
    'User.grants',
    'User.personalAccessTokens',
    'User.sessions',
    'User.subjectTokens',
    'Webhook.deliveries',
  ]);
  expect(mayRead('{ users { edges { node { id } } } }')).toBe(true);
  expect(
    mayRead('{ users { edges { node { ...U } } } } fragment U on User { sessions { totalCount } }'),
  ).toBe(false);
});

test('a record by its id is read where its type is', () => {
  const [user, event, session] = [newId('User'), newId('Event'), newId('Session')];
  const one = (id: string) => mayRead(`{ node(id: "${id}") { id } }`);
  expect([user, event, session, 'nonsense'].map(one)).toEqual([true, false, false, true]);
  const many = (source: string, ids?: unknown) => mayRead(source, { ids });
  expect(many(`{ nodes(ids: ["${user}", "${event}"]) { id } }`)).toBe(false);
  const listed = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  expect(many(listed, [user])).toBe(true);
  expect(many(listed, [user, session])).toBe(false);
  expect(many(listed, event)).toBe(false);
  expect(many(`query ($id: ID!) { nodes(ids: ["${user}", $id]) { id } }`)).toBe(false);
  expect(many(`query ($ids: [ID!]! = ["${event}"]) { nodes(ids: $ids) { id } }`)).toBe(false);
});

test('introspection alone reads nothing', () => {
  expect(mayRead('{ __schema { queryType { name } } }')).toBe(true);
});
