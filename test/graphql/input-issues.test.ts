import { describe, expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const endpoint = { url: service.url, token: await service.managementToken() };
const deep = JSON.parse(`${'{"a":'.repeat(99)}1${'}'.repeat(99)}`);
const long = (length: number) => 'x'.repeat(length);

const { body } = await callRest(endpoint, 'POST', '/users', { name: 'U' });
const { id } = body.user;

describe('an issue of an input has a code', () => {
  test.each([
    ['createUser', 'CreateUserInput', { username: long(129) }, 'username', 'TOO_LONG'],
    ['createUser', 'CreateUserInput', { username: '1 a' }, 'username', 'INVALID_FORMAT'],
    ['createUser', 'CreateUserInput', { name: ' ' }, 'name', 'TOO_SHORT'],
    ['createUser', 'CreateUserInput', { name: 'a\0' }, 'name', 'INVALID_FORMAT'],
    ['createUser', 'CreateUserInput', { primaryEmail: 'x' }, 'primaryEmail', 'INVALID_FORMAT'],
    ['createUser', 'CreateUserInput', { primaryPhone: '1' }, 'primaryPhone', 'INVALID_FORMAT'],
    ['createUser', 'CreateUserInput', { avatar: 'x' }, 'avatar', 'INVALID_FORMAT'],
    ['createUser', 'CreateUserInput', { password: 'short' }, 'password', 'TOO_SHORT'],
    ['createUser', 'CreateUserInput', { customData: deep }, 'customData', 'TOO_DEEP'],
    ['createUser', 'CreateUserInput', { profile: { a: long(70_000) } }, 'profile', 'TOO_LONG'],
    [
      'assignUserRoles',
      'AssignUserRolesInput',
      { userId: id, roleIds: Array(101).fill('r') },
      'roleIds',
      'TOO_LONG',
    ],
    [
      'createResource',
      'CreateResourceInput',
      { name: 'r', indicator: 'x' },
      'indicator',
      'INVALID_FORMAT',
    ],
    [
      'createResource',
      'CreateResourceInput',
      { name: 'r', indicator: 'urn:signet:x' },
      'indicator',
      'INVALID_VALUE',
    ],
    [
      'createResource',
      'CreateResourceInput',
      { name: 'r', indicator: 'URN:Signet:management' },
      'indicator',
      'INVALID_VALUE',
    ],
    [
      'createApplication',
      'CreateApplicationInput',
      { name: 'a', type: 'SPA', exchangeResources: ['urn:signet:account', 'Urn:Signet:account'] },
      'exchangeResources.1',
      'INVALID_VALUE',
    ],
    [
      'createApplication',
      'CreateApplicationInput',
      { name: 'a', type: 'SPA', exchangeSubjectAudiences: ['URN:signet:organization:x'] },
      'exchangeSubjectAudiences.0',
      'INVALID_VALUE',
    ],
    [
      'createPersonalAccessToken',
      'CreatePersonalAccessTokenInput',
      { userId: id, name: 'p', resource: 'URN:SIGNET:x', expiresAt: '2100-01-01T00:00:00Z' },
      'resource',
      'INVALID_VALUE',
    ],
    [
      'createResource',
      'CreateResourceInput',
      { name: 'r', indicator: 'urn:x', accessTokenTtlSeconds: 0 },
      'accessTokenTtlSeconds',
      'TOO_SMALL',
    ],
    [
      'createResource',
      'CreateResourceInput',
      { name: 'r', indicator: 'urn:x', accessTokenTtlSeconds: 2_000_000_000 },
      'accessTokenTtlSeconds',
      'TOO_LARGE',
    ],
    ['updateResource', 'UpdateResourceInput', { id: 'res_x', name: null }, 'name', 'NOT_NULLABLE'],
    [
      'createRole',
      'CreateRoleInput',
      { name: 'r', type: 'MACHINE_TO_MACHINE', isDefault: true },
      'isDefault',
      'INVALID_VALUE',
    ],
    [
      'createWebhook',
      'CreateWebhookInput',
      { name: 'w', url: 'http://x', headers: { a: 'b', A: 'c' } },
      'headers.A',
      'NOT_UNIQUE',
    ],
    ['replayEvents', 'ReplayEventsInput', { webhookId: 'w' }, 'after', 'REQUIRED'],
    [
      'replayEvents',
      'ReplayEventsInput',
      { webhookId: 'w', after: 'x' },
      'after',
      'INVALID_FORMAT',
    ],
  ] as const)('%s(%s: %j): %s is %s', async (mutation, type, input, path, code) => {
    const { data, errors } = await send<Record<string, object>, { input: object }>(
      endpoint,
      `mutation ($input: ${type}!) {
        ${mutation}(input: $input) { ... on InvalidInputError { issues { path code message } } }
      }`,
      { input },
    );
    expect(errors).toBeUndefined();
    expect(data?.[mutation]).toMatchObject({ issues: [{ path: path.split('.'), code }] });
  });

  test('over REST too', async () => {
    const answer = await callRest(endpoint, 'POST', '/users', { username: '!', password: 'x' });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        code: 'INVALID_INPUT',
        issues: [
          { path: ['username'], code: 'INVALID_FORMAT' },
          { path: ['password'], code: 'TOO_SHORT' },
        ],
      },
    });
  });
});
