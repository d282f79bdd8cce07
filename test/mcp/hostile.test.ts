import { describe, expect, test } from 'vitest';
import { managementIndicator } from '../../src/auth/scopes.ts';
import { connectMcp } from '../support/mcp/client.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { startMailServer } from '../support/peers/mail-server.ts';
import { startService } from '../support/service.ts';
import { userToken } from '../support/tokens.ts';

const service = await startService({ MCP: 'true', ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { database, baseUrl } = service.app.services;
const { prisma } = database;
const directory = seedDirectory(database, service.clock);
const admin = await service.managementToken();
const { call } = await connectMcp(service, admin);

const createUser = `mutation ($input: CreateUserInput!) {
  createUser(input: $input) { __typename ... on CreateUserPayload { user { id } } }
}`;
let count = 0;
const nextUser = () => {
  count += 1;
  const username = `hostile_${count}`;
  return { document: createUser, variables: { input: { username, name: 'Mallory' } } };
};
type Asked = ReturnType<typeof nextUser>;
const written = ({ variables }: Asked) =>
  prisma.user.count({ where: { username: variables.input.username } });
const tryOut = async (asked: Asked) => (await call('mutate', asked)).result.digest as string;

/** Sends a message as it is, with a handshake's revision of the protocol. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${admin}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    // biome-ignore lint/suspicious/noExplicitAny: a problem or a message of the protocol.
    body: (text === '' ? undefined : JSON.parse(text)) as any,
  };
}
const calling = (name: string, args: object, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});
const refusal = (code: string) => ({
  isError: true,
  result: { errors: [{ extensions: { code } }] },
});

describe('a digest', () => {
  test('of another application is refused', async () => {
    const asked = nextUser();
    const digest = await tryOut(asked);
    const other = await directory.createClient();
    const management = await prisma.resource.findUniqueOrThrow({
      where: { indicator: managementIndicator },
    });
    await directory.allowClient(other, management, ['all']);
    const theirs = await connectMcp(service, await service.managementToken('all', other));
    const refused = await theirs.call('mutate', { ...asked, confirm: true, digest });
    expect(refused).toMatchObject(refusal('BAD_USER_INPUT'));
    expect(await written(asked)).toBe(0);
    // It is not the right that they lack.
    const own = (await theirs.call('mutate', asked)).result.digest;
    expect(own).not.toBe(digest);
    await theirs.call('mutate', { ...asked, confirm: true, digest: own });
    expect(await written(asked)).toBe(1);
  });

  test('of another person at the same application is refused', async () => {
    const application = await directory.createClient();
    const management = await prisma.resource.findUniqueOrThrow({
      where: { indicator: managementIndicator },
    });
    const connected = await Promise.all(
      [1, 2].map(async () => {
        const person = await directory.createUser();
        await directory.allowUser(person, management, ['all']);
        const claims = { aud: managementIndicator, scope: 'all' };
        return connectMcp(service, await userToken(service, person.id, application, claims));
      }),
    );
    const asked = nextUser();
    const [one, two] = await Promise.all(
      connected.map(async (person) => (await person.call('mutate', asked)).result.digest),
    );
    expect(one).toEqual(expect.any(String));
    expect(two).not.toBe(one);
    const refused = await connected[1]?.call('mutate', { ...asked, confirm: true, digest: one });
    expect(refused).toMatchObject(refusal('BAD_USER_INPUT'));
    expect(await written(asked)).toBe(0);
  });

  test('is worth nothing without the right, though it was made with it', async () => {
    const asked = nextUser();
    const digest = await tryOut(asked);
    const narrow = await connectMcp(service, await service.managementToken('users:read'));
    const refused = await narrow.call('mutate', { ...asked, confirm: true, digest });
    expect(refused).toMatchObject(refusal('FORBIDDEN'));
    expect(await written(asked)).toBe(0);
  });

  test('is of one document with its variables', async () => {
    const asked = nextUser();
    const digest = await tryOut(asked);
    const { input } = asked.variables;
    const others = [
      { ...asked, variables: { input: { ...input, name: 'Other' } } },
      { ...asked, variables: { input: { ...input, password: 'a secret phrase' } } },
      { ...asked, variables: { ...asked.variables, more: 1 } },
      { ...asked, document: `${createUser} ` },
      { ...asked, document: createUser.replace('createUser(', 'again: createUser(') },
    ];
    for (const other of others) {
      const refused = await call('mutate', { ...other, confirm: true, digest });
      expect(refused).toMatchObject(refusal('BAD_USER_INPUT'));
    }
    for (const wrong of [
      undefined,
      null,
      '',
      digest.slice(1),
      `${digest}=`,
      digest.toLowerCase(),
    ]) {
      const refused = await call('mutate', { ...asked, confirm: true, digest: wrong });
      expect(refused).toMatchObject(refusal('BAD_USER_INPUT'));
    }
    // Without `confirm`, even the right one changes nothing.
    await call('mutate', { ...asked, digest });
    expect(await written(asked)).toBe(0);
    const turned = { input: { name: input.name, username: input.username } };
    expect(Object.keys(turned.input)).not.toEqual(Object.keys(input));
    const made = await call('mutate', { ...asked, variables: turned, confirm: true, digest });
    expect(made).toMatchObject({ isError: false });
    expect(await written(asked)).toBe(1);
  });

  test('is given for nothing that the service refuses as a whole', async () => {
    for (const document of ['{', '{ nothing }', 'mutation { nothing }', createUser]) {
      const { isError, result } = await call('mutate', { document, variables: { input: 7 } });
      expect([isError, result.digest]).toEqual([true, undefined]);
    }
  });

  test('makes no change of a document that says it is a dry run', async () => {
    const asked = nextUser();
    const dry = { ...asked, document: createUser.replace('{', '@dryRun {') };
    const digest = await tryOut(dry);
    const { result } = await call('mutate', { ...dry, confirm: true, digest });
    expect(result.extensions.dryRun.events).toHaveLength(1);
    expect(await written(asked)).toBe(0);
  });
});

describe('a document', () => {
  test.each([
    ['query', 'subscription { events { __typename } }'],
    ['query', 'mutation { createUser(input: { username: "by_query" }) { __typename } }'],
    ['mutate', '{ users { totalCount } }'],
    ['mutate', 'subscription { events { __typename } }'],
  ])('of another kind is refused by %s: %s', async (tool, document) => {
    expect(await call(tool, { document })).toMatchObject(refusal('BAD_USER_INPUT'));
    expect(await prisma.user.count({ where: { username: 'by_query' } })).toBe(0);
  });

  test.each(['query', 'mutate'])('with two operations is refused by %s', async (tool) => {
    const document = `query A { users { totalCount } }
      mutation B { createUser(input: { username: "by_two" }) { __typename } }`;
    for (const more of [{}, { operationName: 'B' }]) {
      const { isError } = await call(tool, { document, ...more });
      expect(isError).toBe(true);
    }
    expect(await prisma.user.count({ where: { username: 'by_two' } })).toBe(0);
  });

  test('with two mutations is tried as one, and undone as one', async () => {
    const document = `mutation {
      one: createUser(input: { username: "twice" }) { __typename }
      two: createUser(input: { username: "twice" }) { __typename } }`;
    const { result } = await call('mutate', { document });
    expect(result).toMatchObject({
      data: {
        one: { __typename: 'CreateUserPayload' },
        two: { __typename: 'ConflictError' },
      },
      extensions: { dryRun: { events: [{ type: 'User.Created' }] } },
    });
    expect(await prisma.user.count({ where: { username: 'twice' } })).toBe(0);
    const keyed = await connectMcp(service, admin, { headers: { 'idempotency-key': 'twice' } });
    expect(
      await keyed.call('mutate', { document, confirm: true, digest: result.digest }),
    ).toMatchObject(refusal('BAD_USER_INPUT'));
    expect(await prisma.user.count({ where: { username: 'twice' } })).toBe(0);
  });

  test('of a megabyte, too deep or too dear is refused as at /graphql', async () => {
    const nested = `{ ${'users { edges { node { roles { edges { node { users { edges { node { '.repeat(3)} id ${'} '.repeat(28)}`;
    for (const document of [
      `{ users { totalCount } } ${'#'.repeat(2 ** 20)}`,
      `{ ${'a '.repeat(5_000)} }`,
      `{ ${Array.from({ length: 31 }, (_, i) => `a${i}: __typename`).join(' ')} }`,
      '{ users(first: 100) { edges { node { roles(first: 100) { edges { node { users(first: 100) { edges { node { id } } } } } } } } } }',
      nested,
    ]) {
      const { errors } = await send({ url: service.url, token: admin }, document);
      const { isError, result } = await call('query', { document });
      expect(isError).toBe(true);
      const codes = (given: typeof errors) => given?.map(({ extensions }) => extensions['code']);
      expect(codes(result.errors)).toEqual(codes(errors));
    }
  });

  test('with values that are nested too deeply is refused without a fault', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const faults = service.logged.filter(({ level }) => Number(level) >= 50).length;
    const variables = `{"input":{"username":"deep","customData":${deep}}}`;
    const text = JSON.stringify(calling('mutate', { document: createUser, variables: 'HERE' }));
    const { status, body } = await post(text.replace('"HERE"', variables));
    expect([status, body.result.isError]).toEqual([200, true]);
    const confirmed = JSON.stringify(
      calling('mutate', { document: createUser, variables: 'HERE', confirm: true, digest: 'x' }),
    );
    const { body: again } = await post(confirmed.replace('"HERE"', variables));
    expect(JSON.parse(again.result.content[0].text)).toMatchObject(
      refusal('BAD_USER_INPUT').result,
    );
    expect(service.logged.filter(({ level }) => Number(level) >= 50)).toHaveLength(faults);
  });

  test('sees no more than at /graphql where introspection is off', async () => {
    const closed = await startService({ MCP: 'true', INTROSPECTION: 'false' });
    const hidden = await connectMcp(closed, await closed.managementToken());
    const asked = await hidden.call('query', { document: '{ __schema { types { name } } }' });
    expect(asked.result.errors[0].message).toContain('introspection has been disabled');
    const unknown = await hidden.call('query', { document: '{ userz { totalCount } }' });
    expect(unknown.result.errors[0].message).not.toMatch(/users/);
    await closed.stop();
  });
});

describe('a message', () => {
  test('is one: a batch of a thousand calls does nothing', async () => {
    const asked = nextUser();
    const digest = await tryOut(asked);
    const one = calling('mutate', { ...asked, confirm: true, digest });
    for (const batch of [[], [one], Array.from({ length: 1_000 }, (_, id) => ({ ...one, id }))]) {
      const { status, body } = await post(batch);
      expect([status, body.code]).toEqual([400, 'BAD_USER_INPUT']);
    }
    expect(await written(asked)).toBe(0);
  });

  test.each<[string, string, number]>([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['null', 'null', 400],
    ['a text', '"x"', 400],
    ['no message', '{}', 400],
    ['more than four MiB', JSON.stringify({ x: 'x'.repeat(4 * 2 ** 20) }), 413],
  ])('that is %s is refused', async (_what, text, status) => {
    expect((await post(text)).status).toBe(status);
  });

  test('of another media type is refused', async () => {
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('opens no stream', async () => {
    const { status, body } = await post(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: {
          notifications: { toolsListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    );
    expect([status, body.error.code]).toEqual([200, -32603]);
  });

  test('with arguments that a tool does not have is refused', async () => {
    const asked = nextUser();
    const { isError } = await call('mutate', { ...asked, confirm: 'true', dryRun: false });
    expect(isError).toBe(true);
    expect(await written(asked)).toBe(0);
    const { body } = await post(calling('drop_everything', {}));
    expect(body.error.code).toBe(-32602);
  });
});

describe('a stranger', () => {
  test.each([
    ['without a token', ''],
    ['with garbage', 'Bearer x'],
    ['with a token that was changed', `Bearer ${admin}x`],
    ['with another scheme', 'Basic YTpi'],
  ])('%s is told nothing', async (_what, authorization) => {
    for (const body of ['{', calling('search_operations', { query: '' })]) {
      const answer = await post(body, { authorization });
      expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHENTICATED']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="/);
    }
  });

  test('with a token of no scope is told nothing', async () => {
    const { id } = await directory.createUser();
    const claims = { aud: managementIndicator, scope: '' };
    const token = await userToken(service, id, service.admin, claims);
    const answer = await post(calling('search_operations', { query: '' }), {
      authorization: `Bearer ${token}`,
    });
    expect([answer.status, answer.body.code]).toEqual([403, 'FORBIDDEN']);
  });

  test('in a page of another origin is refused', async () => {
    const message = calling('query', { document: '{ users { totalCount } }' });
    for (const origin of ['https://evil.example', 'null', `${baseUrl}.evil.example`]) {
      const { status, body, headers } = await post(message, { origin });
      expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    expect((await post(message, { origin: new URL(baseUrl).origin })).status).toBe(200);
  });

  test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'])('with %s is refused', async (method) => {
    const answer = await fetch(`${service.url}/mcp`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('finds nothing where it is off', async () => {
    const off = await startService();
    const answer = await fetch(`${off.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await off.managementToken()}`,
        'content-type': 'application/json',
      },
      body: '{}',
    });
    expect(answer.status).toBe(404);
    await off.stop();
  });
});

test('a dry run sends nothing', async () => {
  const mail = await startMailServer();
  const smtp = { host: '127.0.0.1', port: mail.port, from: 'signet@example.com' };
  const confirm = async (asked: { document: string; variables: object }) => {
    const { digest } = (await call('mutate', asked)).result;
    return (await call('mutate', { ...asked, confirm: true, digest })).result.data;
  };
  const set = await confirm({
    document: `mutation ($input: SetEmailSenderInput!) { setEmailSender(input: $input) {
      __typename } }`,
    variables: { input: { smtp } },
  });
  expect(set.setEmailSender.__typename).toBe('SetEmailSenderPayload');
  const asked = {
    document: `mutation ($input: SendTestMessageInput!) { sendTestMessage(input: $input) {
      __typename } }`,
    variables: { input: { channel: 'EMAIL', recipient: 'a@example.com' } },
  };
  const tried = await call('mutate', asked);
  expect(tried.result.data.sendTestMessage.__typename).toBe('NotAllowedError');
  expect(await prisma.message.count()).toBe(0);
  // What cannot be tried can still be confirmed.
  await confirm(asked);
  expect(await mail.arrived(1)).toMatchObject([{ to: ['a@example.com'] }]);
});

describe('an Idempotency-Key', () => {
  const keyed = (key: string, token = admin) =>
    connectMcp(service, token, { headers: { 'idempotency-key': key } });

  test('makes a confirmed change once, also over /graphql, and a trial leaves it free', async () => {
    const agent = await keyed('agent');
    const asked = nextUser();
    const { digest } = (await agent.call('mutate', asked)).result;
    const confirmed = { ...asked, confirm: true, digest };
    const first = await agent.call('mutate', confirmed);
    expect(agent.lastHeaders()?.get('idempotency-replayed')).toBeNull();
    const again = await agent.call('mutate', confirmed);
    expect(agent.lastHeaders()?.get('idempotency-replayed')).toBe('true');
    expect(again.result).toEqual(first.result);
    expect(await written(asked)).toBe(1);
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${admin}`,
        'content-type': 'application/json',
        'idempotency-key': 'agent',
      },
      body: JSON.stringify({ query: asked.document, variables: asked.variables }),
    });
    expect(await response.json()).toEqual(first.result);

    const other = nextUser();
    const next = (await agent.call('mutate', other)).result.digest;
    const reused = await agent.call('mutate', { ...other, confirm: true, digest: next });
    expect(reused).toMatchObject(refusal('IDEMPOTENCY_KEY_REUSED'));
    expect(await written(other)).toBe(0);
  });

  test('of another caller gives none of their secrets', async () => {
    const { id } = await directory.createClient();
    const asked = {
      document: `mutation ($id: ID!) { createApplicationSecret(input: { applicationId: $id, name: "x" }) {
        ... on CreateApplicationSecretPayload { secret } } }`,
      variables: { id },
    };
    const confirm = async (agent: Awaited<ReturnType<typeof keyed>>) => {
      const { digest } = (await agent.call('mutate', asked)).result;
      const { result } = await agent.call('mutate', { ...asked, confirm: true, digest });
      return result.data?.createApplicationSecret.secret;
    };
    const secret = await confirm(await keyed('theirs'));
    expect(secret).toEqual(expect.any(String));
    const person = await directory.createUser();
    const claims = { aud: managementIndicator, scope: 'applications:write' };
    const token = await userToken(service, person.id, service.admin, claims);
    const other = await confirm(await keyed('theirs', token));
    expect(other).not.toBe(secret);
  });

  test('that is none is refused', async () => {
    const { status, body } = await post(calling('query', { document: '{ __typename }' }), {
      'idempotency-key': 'two words',
    });
    expect([status, body.code]).toEqual([400, 'BAD_USER_INPUT']);
  });
});

describe('a configuration', () => {
  const document = JSON.stringify({ signet: 1, roles: [{ name: 'By plan', type: 'USER' }] });
  const asked = (expectedDigest: string) => ({
    document: `mutation ($input: ApplyConfigurationInput!) {
      applyConfiguration(input: $input) { __typename } }`,
    variables: { input: { document, expectedDigest } },
  });

  test('that one has planned is not applied by one who may do less', async () => {
    const planned = await call('mutate', {
      document: `mutation ($input: PlanConfigurationInput!) { planConfiguration(input: $input) {
        ... on PlanConfigurationPayload { plan { digest } } } }`,
      variables: { input: { document } },
    });
    const { digest: expectedDigest } = planned.result.data.planConfiguration.plan;
    const lesser = await connectMcp(
      service,
      await service.managementToken(
        'resources:read roles:read organizations:read applications:read webhooks:read experience:read',
      ),
    );
    const trial = await lesser.call('mutate', asked(expectedDigest));
    const digests = [
      trial.result.digest,
      (await call('mutate', asked(expectedDigest))).result.digest,
    ];
    for (const digest of digests) {
      await lesser.call('mutate', {
        ...asked(expectedDigest),
        confirm: true,
        digest: digest ?? '',
      });
    }
    expect(await prisma.role.count({ where: { name: 'By plan' } })).toBe(0);
    expect(JSON.stringify(trial.result)).toContain('roles:write');
  });
});
