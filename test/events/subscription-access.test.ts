import { createClient } from 'graphql-sse';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { encodePosition, logStart } from '../../src/events/position.ts';
import { newId } from '../../src/ids.ts';
import { raise, userEvent } from '../support/log.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { connect, eventsDocument, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';
import { userToken } from '../support/tokens.ts';
import { eventually } from '../support/wait.ts';

const service = await startService();
const { services } = service.app;
const { prisma } = services.database;
const directory = seedDirectory(services.database, service.clock);
const start = encodePosition(logStart);
const hourMs = 60 * 60 * 1000;

let endpoint: { url: string; token: string };
let after: string;
beforeEach(async () => {
  endpoint = { url: service.url, token: await service.managementToken() };
  after = await logEnd(endpoint, services.database);
});

const metric = async (name: string) => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
};

/** A user's token for the management API, which can be revoked and its user suspended. */
async function tokenOfUser() {
  const user = await directory.createUser();
  const client = await directory.createClient();
  const jti = newId('Delivery');
  const token = await userToken(service, user.id, client, {
    aud: 'urn:signet:management',
    scope: 'all',
    jti,
  });
  return { user, client, jti, token };
}

/** Opens a connection that is known to be let in. */
async function letIn(token: string) {
  const connection = connect({ url: service.url, token });
  const subscriber = subscribe(connection, { after });
  await raise(services, [userEvent('let in')]);
  await subscriber.received(1);
  return { ...connection, subscriber };
}

type Places = [connectionParams: object, headers?: Record<string, string>];

/** The type of the first message after `connection_init`, or the code by which the socket was closed. */
async function answerToInit(
  payload: object,
  headers: Record<string, string>,
): Promise<string | number> {
  const socket = new WebSocket(
    `${service.url.replace(/^http/, 'ws')}/graphql`,
    'graphql-transport-ws',
    { headers },
  );
  onTestFinished(() => socket.terminate());
  const answer = Promise.withResolvers<string | number>();
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload })));
  socket.on('message', (data) => answer.resolve(JSON.parse(String(data)).type));
  socket.on('close', (code) => answer.resolve(code));
  socket.on('error', answer.reject);
  return answer.promise;
}

describe('over WebSocket', () => {
  test.each([
    ['absent', undefined],
    ['no token', 'nothing'],
    ['forged', 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IngifQ.eyJzdWIiOiJ4In0.AAAA'],
  ])('closes with 4403 where the token is %s', async (_what, token) => {
    expect((await connect({ url: service.url, token }).closed).code).toBe(4403);
  });

  test.each<[string, (authorization: string) => Places]>([
    ['a header of connectionParams', (authorization) => [{ headers: { authorization } }]],
    ['one that is capitalized', (Authorization) => [{ headers: { Authorization } }]],
    ['the upgrade', (authorization) => [{}, { authorization }]],
    [
      'connectionParams before others',
      (authorization) => [{ authorization }, { authorization: 'x' }],
    ],
    [
      'the first that is text',
      (authorization) => [{ authorization: 7, headers: [] }, { authorization }],
    ],
  ])('lets in a token in %s', async (_what, place) => {
    const [connectionParams, headers = {}] = place(`Bearer ${endpoint.token}`);
    expect(await answerToInit(connectionParams, headers)).toBe('connection_ack');
  });

  test.each<[string, (authorization: string) => Places]>([
    ['none', () => [{}, {}]],
    ['a first one that is bad', (good) => [{ authorization: 'Bearer x' }, { authorization: good }]],
    ['headers that are null', () => [{ headers: null }]],
  ])('closes with 4403 with %s', async (_what, place) => {
    const [connectionParams, headers = {}] = place(`Bearer ${endpoint.token}`);
    expect(await answerToInit(connectionParams, headers)).toBe(4403);
  });

  test('closes with 4403 on an expired or foreign token', async () => {
    const { user, client } = await tokenOfUser();
    const elsewhere = await userToken(service, user.id, client);
    expect((await connect({ url: service.url, token: elsewhere }).closed).code).toBe(4403);
    const now = Math.floor(service.clock.now().getTime() / 1000);
    const expired = await userToken(service, user.id, client, {
      aud: 'urn:signet:management',
      exp: now - 1,
    });
    expect((await connect({ url: service.url, token: expired }).closed).code).toBe(4403);
  });

  test('closes with 4403 when the token expires', async () => {
    const { closed } = await letIn(endpoint.token);
    service.clock.advance(hourMs + 1000);
    expect((await closed).code).toBe(4403);
  });

  test('closes only the revoked token’s socket with 4403', async () => {
    const { token, jti } = await tokenOfUser();
    const { closed } = await letIn(token);
    const other = await letIn(endpoint.token);
    await prisma.revokedToken.create({ data: { jti, expiresAt: new Date('2100-01-01') } });
    expect((await closed).code).toBe(4403);
    const seen = other.subscriber.events.length;
    await raise(services, [userEvent('still there')]);
    await other.subscriber.received(seen + 1);
  });

  test('does nothing for a token after it is revoked', async () => {
    const { token, jti } = await tokenOfUser();
    const { client, closed } = await letIn(token);
    const create = () =>
      client.iterate({
        query: 'mutation { createRole(input: { name: "Too late", type: USER }) { __typename } }',
      });
    await prisma.revokedToken.create({ data: { jti, expiresAt: new Date('2100-01-01') } });
    // It is told, or the socket closes first.
    const told = create().next();
    const errors = await told.then(
      ({ value }) => value?.errors,
      () => undefined,
    );
    if (errors) expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    expect((await closed).code).toBe(4403);
    expect(await prisma.role.count({ where: { name: 'Too late' } })).toBe(0);
  });

  test('closes with 4403 on suspension, or deletion of the application', async () => {
    const [one, two] = [await tokenOfUser(), await tokenOfUser()];
    const connections = [await letIn(one.token), await letIn(two.token)];
    await prisma.user.update({ where: { id: one.user.id }, data: { isSuspended: true } });
    await prisma.application.delete({ where: { id: two.client.id } });
    const closed = await Promise.all(connections.map((connection) => connection.closed));
    expect(closed.map(({ code }) => code)).toEqual([4403, 4403]);
  });

  test('refuses a subscription without events:read, and keeps the connection', async () => {
    const token = await service.managementToken('users:read');
    const connection = connect({ url: service.url, token });
    const subscriber = subscribe(connection);
    await subscriber.until(({ isComplete }) => isComplete);
    expect(subscriber.errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', requiredScope: 'events:read' } },
    ]);
    const results = [];
    for await (const result of connection.client.iterate({ query: '{ users { totalCount } }' })) {
      results.push(result);
    }
    expect(results).toMatchObject([{ data: { users: { totalCount: expect.any(Number) } } }]);
  });

  test("omits typed fields that the token's scopes do not allow", async () => {
    const document = `subscription ($after: String) {
      events(after: $after) { id cursor name data ... on UserCreatedEvent { user { id } } }
    }`;
    const narrow = { url: service.url, token: await service.managementToken('events:read') };
    const wide = {
      url: service.url,
      token: await service.managementToken('events:read users:read'),
    };
    const refused = subscribe(connect(narrow), { after }, document);
    const allowed = subscribe(connect(wide), { after }, document);
    await raise(services, [userEvent('a user that is nowhere')]);
    await Promise.all([refused.received(1), allowed.received(1)]);
    expect(refused.events[0]).toMatchObject({
      data: { name: 'a user that is nowhere' },
      user: null,
    });
    expect(refused.errors).toMatchObject([]);

    const user = await directory.createUser();
    const event = userEvent('a user that is there');
    await raise(services, [{ ...event, data: { ...event.data, id: user.id } } as typeof event]);
    await Promise.all([refused.received(2), allowed.received(2)]);
    expect(allowed.events[1]).toMatchObject({ user: { id: user.id } });
    expect(allowed.errors).toEqual([]);
    expect(refused.events[1]).toMatchObject({ user: null });
    expect(refused.errors).toMatchObject([
      {
        path: ['events', 'user', 'id'],
        extensions: { code: 'FORBIDDEN', requiredScope: 'users:read' },
      },
    ]);
    expect(refused.errors[0]?.extensions).not.toHaveProperty('http');
  });
});

describe('over server-sent events', () => {
  const client = (token: string) => {
    const sse = createClient({
      url: `${service.url}/graphql`,
      headers: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
    });
    onTestFinished(() => sse.dispose());
    return sse;
  };

  type Result = {
    data?: { events: { cursor: string; data: Record<string, unknown> } } | null;
    errors?: readonly unknown[];
  };

  function follow(token: string, variables: object, query = eventsDocument) {
    const results: Result[] = [];
    const ended = Promise.withResolvers<unknown>();
    const stop = client(token).subscribe<never>(
      { query, variables: variables as Record<string, unknown> },
      {
        next: (result) => void results.push(result as unknown as Result),
        error: ended.resolve,
        complete: () => ended.resolve('complete'),
      },
    );
    const names = () => results.map(({ data }) => data?.events.data['name']);
    return { results, names, stop, ended: ended.promise };
  }

  test('catches up from a cursor and goes on live', async () => {
    await raise(services, [userEvent('past')]);
    const stream = follow(endpoint.token, { after });
    await eventually(() => expect(stream.names()).toEqual(['past']));
    await raise(services, [userEvent('live'), userEvent('more')]);
    await eventually(() => expect(stream.names()).toEqual(['past', 'live', 'more']));
  });

  test('takes a GET as an EventSource sends it', async () => {
    await raise(services, [userEvent('by GET')]);
    const url = new URL(`${service.url}/graphql`);
    url.searchParams.set('query', eventsDocument);
    url.searchParams.set('variables', JSON.stringify({ after }));
    const aborting = new AbortController();
    const response = await fetch(url, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${endpoint.token}` },
      signal: aborting.signal,
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (/event: next\ndata: .*by GET.*\n\n/.test(text)) break;
    }
    aborting.abort();
    expect(text).toContain('by GET');
  });

  test('frees the resources of a client that leaves', async () => {
    const idle = () =>
      eventually(async () => {
        expect(await metric('signet_connections')).toBe(0);
        expect(await metric('signet_subscribers')).toBe(0);
      });
    await idle();
    const stream = follow(endpoint.token, { after });
    await raise(services, [userEvent('one')]);
    await eventually(() => expect(stream.names()).toEqual(['one']));
    expect(await metric('signet_connections')).toBe(1);
    stream.stop();
    await idle();
  });

  test('ends with UNAUTHENTICATED when the token expires', async () => {
    const stream = follow(endpoint.token, { after });
    await raise(services, [userEvent('before')]);
    await eventually(() => expect(stream.names()).toEqual(['before']));
    service.clock.advance(hourMs + 1000);
    expect(await stream.ended).toBe('complete');
    expect(stream.results.at(-1)).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });

  test.each([
    ['a token that is none', () => 'nothing', {}, 'UNAUTHENTICATED'],
    ['a token without events:read', () => service.managementToken('users:read'), {}, 'FORBIDDEN'],
    ['a malformed cursor', () => endpoint.token, { after: '?' }, 'BAD_USER_INPUT'],
    ['an unknown type', () => endpoint.token, { types: ['NONE'] }, 'BAD_USER_INPUT'],
  ])('refuses %s', async (_what, token, variables, code) => {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${await token()}`,
      },
      body: JSON.stringify({ query: eventsDocument, variables }),
    });
    const body = await response.text();
    const [, data = ''] = /^data: ?(\{.*)$/m.exec(body) ?? [];
    expect(JSON.parse(data || body)).toMatchObject({ errors: [{ extensions: { code } }] });
  });

  test('ends at a stop, and does not hold it up', async () => {
    const stopping = await startService();
    const token = await stopping.managementToken();
    const response = await fetch(`${stopping.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ query: eventsDocument, variables: { after: start } }),
    });
    expect(response.status).toBe(200);
    await stopping.app.stop();
    await expect(response.text()).rejects.toThrow();
  });
});
