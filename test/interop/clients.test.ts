import { decodeJwt } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import {
  abilities,
  type Client,
  clients,
  secretIn,
  titleOf,
  wordsOf,
} from '../../scripts/documents/clients.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { chromiumPath, leaveChromium } from '../support/peers/chromium.ts';
import { freePort } from '../support/peers/free-port.ts';
import { createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { isActive } from '../support/tokens.ts';
import { eventually } from '../support/wait.ts';
import { areInstalled, filesOf, readExample, startExample } from './example-process.ts';
import { openPerson, openPersonInChromium } from './person.ts';
import { tableOf } from './printed-table.ts';
import { type Exchange, openWire } from './wire.ts';

const wire = await openWire();
const service = await startService({ BASE_URL: wire.url });
wire.leadTo(service.url);
const { issuer } = service.app.services;
const { done } = createMaker(overGraphQL(service, await service.managementToken()));
const { directory, user } = await createSignInFixture(service);

// The API of examples/service-b.js. Its tokens live so briefly that the clients take a new one for each call.
const api = await directory.createResource(['orders:read'], {
  indicator: 'https://orders.example.com',
  accessTokenTtlSeconds: 60,
});
await directory.allowUser(user, api, ['orders:read']);
const apiPort = String(await freePort());
const orders = await startExample('service-b.js', { ISSUER: issuer, PORT: apiPort });

/** What each did, by its title. */
const outcomes = new Map<string, Readonly<Record<string, string>>>();
afterAll(async () => {
  await leaveChromium();
  const rows = clients.map((client) => ({
    client: titleOf(client),
    ...(isHere(client) ? outcomes.get(client.file) : { [abilities[0]]: 'left out: not installed' }),
  }));
  process.stdout.write(tableOf(rows));
});

const isHere = ({ page }: Client) =>
  areInstalled('clients') && (page === undefined || chromiumPath !== undefined);

/** Creates an application as the page says, starts the client with it, and signs the fixture's user in. */
async function enter({ file, page, application, callback }: Client, hasApi: boolean) {
  const PORT = String(await freePort());
  const url = `http://localhost:${PORT}`;
  const made = await done('createApplication', {
    name: file,
    redirectUris: [`${url}${callback}`],
    postLogoutRedirectUris: [url, `${url}/`],
    // A page that goes may lose an answer.
    refreshTokenReuseSeconds: 300,
    ...application,
  });
  const client: { id: string; secret: string } = {
    id: made.application.id,
    secret: made.secret ?? '',
  };
  await startExample(`clients/${file}`, {
    ISSUER: issuer,
    CLIENT_ID: client.id,
    CLIENT_SECRET: client.secret,
    API_URL: orders,
    REFRESH_SECONDS: '0',
    PORT,
    ...(hasApi ? { API: api.indicator } : {}),
  });
  const person = await (page ? openPersonInChromium : openPerson)(url, wire.url);
  await person.signIn({ identifier: 'Ada', password });
  expect(await person.ask('/')).toMatchObject({ status: 200, body: { sub: user.id } });
  return { person, url, client };
}

const isAt = (path: string) => (exchange: Exchange) => exchange.path === path;
const isGrant = (grant: string) => (exchange: Exchange) =>
  exchange.path === '/oidc/token' && exchange.parameters.get('grant_type') === grant;
const tokensOf = ({ answer }: Exchange) => JSON.parse(answer) as Record<string, string>;
const audienceOf = (exchange: Exchange) => decodeJwt(tokensOf(exchange)['access_token'] ?? '').aud;

/** What a client did, as the service saw it. */
const whatItDid = (seen: readonly Exchange[]) => ({
  PKCE: seen
    .filter(isAt('/oidc/auth'))
    .every(({ parameters }) => parameters.get('code_challenge_method') === 'S256'),
  resource: seen.some(
    (exchange) =>
      isGrant('authorization_code')(exchange) && isForApi(tokensOf(exchange)['access_token']),
  ),
  refresh: seen.some(isGrant('refresh_token')),
  'user info': seen.some(isAt('/oidc/me')),
  'sign-out': seen.some(isAt('/oidc/session/end')),
  revocation: seen.some(isAt('/oidc/token/revocation')),
});

const isForApi = (token = '') =>
  token.split('.').length === 3 && decodeJwt(token).aud === api.indicator;

function howItSendsItsSecret({ authorization, parameters }: Exchange) {
  if (parameters.has('client_secret')) return secretIn.form;
  if (authorization === undefined) return secretIn.nothing;
  const [, text = ''] = authorization.split(' ');
  return atob(text).endsWith(':') ? secretIn.emptyBasic : secretIn.basic;
}

describe.skipIf(!clients.some(isHere))('a client signs people in as docs/clients.md says', () => {
  test.for(clients.filter(isHere))('$file', async (client) => {
    const from = wire.exchanges.length;
    const seen = () => wire.exchanges.slice(from);
    const does = (ability: (typeof abilities)[number]) => client.does[ability] !== 'no';

    if (does('resource')) {
      const { person, client: application } = await enter(client, true);
      expect(await person.ask('/orders')).toEqual({
        status: 200,
        body: { user: user.id, calledBy: application.id },
      });
      await eventually(() => expect(seen().some(isGrant('refresh_token'))).toBe(true));
      expect(seen().filter(isGrant('refresh_token')).map(audienceOf)).toContain(api.indicator);
      // Those that ask for user info all the same are told why they get none.
      await person.ask('/profile');
      for (const { status, challenge } of seen().filter(isAt('/oidc/me')))
        expect([status, challenge]).toEqual([401, expect.stringMatching(/another API/)]);
      await person.leave();
    }

    const fromHere = wire.exchanges.length;
    const { person, url } = await enter(client, false);
    expect(await person.ask('/profile')).toMatchObject({
      status: 200,
      // Some write addresses in lower case.
      body: { name: user.name, email: expect.stringMatching(/^ada@example\.com$/i) },
    });
    if (client.does.refresh === 'yes' && !does('resource')) {
      await eventually(async () => {
        await person.ask('/');
        expect(seen().some(isGrant('refresh_token'))).toBe(true);
      });
    }
    expect(await person.signOut()).toBe(`${url}/`);
    expect(await person.ask('/')).toEqual({ status: 200, body: null });
    // Whom Signet knows still, it would ask for nothing.
    expect((await person.beginAgain()).pathname).toMatch(/^\/sign-in\//);
    const last = seen().findLast(isAt('/oidc/token'));
    const { access_token, refresh_token = access_token } = tokensOf(last as Exchange);
    for (const token of [access_token, refresh_token])
      expect(await isActive(service, service.admin, token)).toBe(false);
    await person.leave();

    const did = whatItDid(seen());
    outcomes.set(
      client.file,
      Object.fromEntries(Object.entries(did).map(([what, has]) => [what, has ? 'yes' : 'no'])),
    );
    expect(did).toEqual(Object.fromEntries(abilities.map((ability) => [ability, does(ability)])));
    const here = wire.exchanges.slice(fromHere);
    expect(here.filter(({ status }) => status >= 400)).toEqual([]);
    expect([...new Set(here.filter(isAt('/oidc/token')).map(howItSendsItsSecret))]).toEqual([
      client.secret,
    ]);
    const text = [client.file, client.page ?? []]
      .flat()
      .map((file) => readExample(`clients/${file}`));
    expect(wordsOf(client).filter((words) => !text.join('').includes(words))).toEqual([]);
  });
});

test('each file of examples/clients is tried', () => {
  expect(clients.map(({ file }) => file).toSorted()).toEqual(filesOf('clients'));
});
