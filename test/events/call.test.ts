import { createClient } from 'graphql-ws';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { quietTransaction } from '../../src/db/transaction.ts';
import { bySignet, recordEvent } from '../../src/events/record.ts';
import { newId, newTraceId } from '../../src/ids.ts';
import { basic } from '../support/client-credentials.ts';
import { send } from '../support/operations/graphql.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { openSignInPage, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { formOf, postToken } from '../support/tokens.ts';
import { eventually } from '../support/wait.ts';

// Both nodes are behind one proxy, which says from where it was called.
const service = await startService({ TRUST_PROXY: '1' });
const other = await startSecondNode(service);
const { database } = service.app.services;
const fixture = await createAccountFixture(service);
const token = await service.managementToken();

interface Shown {
  readonly name: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly traceId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const ip = '2001:db8::7';
const userAgent = 'Test/1.0';

/** Adds to each request what a proxy and a tracing client send. */
function calledWith(headers: Record<string, string>): void {
  const { fetch } = globalThis;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
    fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers },
    }),
  );
  onTestFinished(() => spy.mockRestore());
}

/** The headers of a call in a new trace. */
function traced() {
  const traceId = newTraceId();
  return {
    traceId,
    headers: {
      'x-forwarded-for': `192.0.2.1, ${ip}`,
      'user-agent': userAgent,
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
  };
}

/** Begins a trace for each request of this test. */
function beginTrace(): string {
  const { traceId, headers } = traced();
  calledWith(headers);
  return traceId;
}

/** The events of a trace, as the other node shows them. */
async function eventsOf(traceId: string | null): Promise<readonly Shown[]> {
  const document = `query { events(last: 100) { edges { node { name ip userAgent traceId data } } } }`;
  const endpoint = { url: other.url, token };
  const { data } = await send<{ events: { edges: { node: Shown }[] } }>(endpoint, document);
  return (data?.events.edges ?? [])
    .map(({ node }) => node)
    .filter((event) => event.traceId === traceId);
}

/** Waits for events of a trace, each with what its request said of itself. */
async function expectTold(traceId: string, ...names: readonly string[]): Promise<void> {
  const told = await eventually(async () => {
    const found = await eventsOf(traceId);
    expect(found.map(({ name }) => name)).toEqual(names);
    return found;
  });
  for (const event of told) expect(event).toMatchObject({ ip, userAgent, traceId });
}

const createRole = 'mutation { createRole(input: { name: "NAME" }) { __typename } }';
const uniquely = (document: string) => document.replace('NAME', newId('Role'));

describe('an event says from where it was called and in which trace', () => {
  test('after a mutation over HTTP', async () => {
    const traceId = beginTrace();
    await send({ url: service.url, token }, uniquely(createRole));
    await expectTold(traceId, 'Role.Created');
  });

  test('after a mutation over WebSocket', async () => {
    const { traceId, headers } = traced();
    const client = createClient({
      url: `${service.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocol: string) {
          super(url, protocol, { headers });
        }
      },
      connectionParams: { authorization: `Bearer ${token}` },
    });
    onTestFinished(async () => client.dispose());
    const { value } = await client.iterate({ query: uniquely(createRole) }).next();
    expect(value).toMatchObject({ data: { createRole: { __typename: 'CreateRolePayload' } } });
    await expectTold(traceId, 'Role.Created');
  });

  test('after a REST call', async () => {
    const traceId = beginTrace();
    const response = await fetch(`${service.url}/api/roles`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: newId('Role') }),
    });
    expect(response.status).toBe(201);
    await expectTold(traceId, 'Role.Created');
  });

  test('after an operation of the Account API', async () => {
    const person = await fixture.createUser();
    const account = await fixture.signInTo(person.username ?? '');
    const traceId = beginTrace();
    await account.run('updateViewer', { name: 'Al' });
    await expectTold(traceId, 'User.Data.Updated');
  });

  test('after a headless sign-in', async () => {
    const person = await fixture.createUser();
    const client = await fixture.createApplication({ allowHeadlessSignIn: true });
    const traceId = beginTrace();
    const headless = await startHeadless(service, { clientId: client.id, redirectUri });
    const input = { identifier: person.username, password };
    const refused = await step(headless.send, 'signInWithPassword', { ...input, password: 'no' });
    expect(refused).toMatchObject({ code: 'VERIFICATION_FAILED' });
    await step(headless.send, 'signInWithPassword', input);
    await step(headless.send, 'submitInteraction');
    const told = await eventually(async () => {
      const found = await eventsOf(traceId);
      expect(found.map(({ name }) => name).sort()).toEqual(['PostSignIn', 'SignIn.Failed']);
      return found;
    });
    // `data` says the same where it has an address.
    for (const event of told)
      expect(event).toMatchObject({ ip, userAgent, data: { ip, userAgent } });
  });

  test('after a sign-in at the pages, and the sign-out', async () => {
    const person = await fixture.createUser();
    const { browser, visit } = await openSignInPage(service, fixture.client);
    const traceId = beginTrace();
    await browser.submit(visit, { identifier: person.username ?? '', password });
    await expectTold(traceId, 'PostSignIn');
    const end = await browser.open(`${service.app.services.issuer}/session/end`);
    await browser.submit(end, { logout: 'yes' });
    await expectTold(traceId, 'PostSignIn', 'User.Session.Ended');
  });

  test('after a refusal of the token endpoint', async () => {
    const traceId = beginTrace();
    const { status } = await postToken(
      service,
      formOf({ grant_type: 'client_credentials', resource: 'https://nowhere.example.com' }),
      { authorization: basic(service.admin.id, service.admin.secret) },
    );
    expect(status).toBe(400);
    await expectTold(traceId, 'Token.Refused');
  });

  test('in an export', async () => {
    const traceId = beginTrace();
    await send({ url: service.url, token }, uniquely(createRole));
    await expectTold(traceId, 'Role.Created');
    const response = await fetch(`${other.url}/api/events?types=ROLE_CREATED`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
    });
    const lines = (await response.text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as Shown)).toContainEqual(
      expect.objectContaining({ ip, userAgent, traceId }),
    );
  });
});

test.each([
  ['a version that there is not', 'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['a trace of zeros', '00-00000000000000000000000000000000-00f067aa0ba902b7-01'],
  ['a parent of zeros', '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01'],
  ['capitals', '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01'],
  ['more than its version has', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x'],
  ['two', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, 00-1'],
])('ignores a traceparent with %s: the call has a trace of its own', async (_case, traceparent) => {
  calledWith({ traceparent });
  const name = newId('Role');
  await send({ url: service.url, token }, createRole.replace('NAME', name));
  const [event] = await database.prisma.event.findMany({
    where: { data: { path: ['name'], equals: name } },
  });
  expect(event?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(traceparent.toLowerCase()).not.toContain(event?.traceId);
});

test('reads the traceparent of a later version', async () => {
  const traceId = newTraceId();
  calledWith({ traceparent: `01-${traceId}-00f067aa0ba902b7-01-more` });
  await send({ url: service.url, token }, uniquely(createRole));
  await eventually(async () => expect(await eventsOf(traceId)).toHaveLength(1));
});

test('keeps 512 characters of a User-Agent', async () => {
  const { traceId, headers } = traced();
  calledWith({ ...headers, 'user-agent': 'a'.repeat(2_000) });
  await send({ url: service.url, token }, uniquely(createRole));
  await eventually(async () =>
    expect((await eventsOf(traceId)).map((event) => event.userAgent)).toEqual(['a'.repeat(512)]),
  );
});

test('an event of the background says nothing of a call', async () => {
  const signingKeyId = newId('SigningKey');
  await quietTransaction(database, (tx) =>
    recordEvent(tx, { ...bySignet, clock: service.clock }, 'SigningKey.Rotated', { signingKeyId }),
  );
  await eventually(async () =>
    expect(await eventsOf(null)).toContainEqual(
      expect.objectContaining({ ip: null, userAgent: null, data: { signingKeyId } }),
    ),
  );
});
