import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import {
  abilities,
  type Client,
  clients,
  type Machine,
  machines,
  secretIn,
  titleOf,
  wordsOf,
} from '../../scripts/documents/clients.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { chromiumPath, leaveChromium } from '../support/peers/chromium.ts';
import { freePort } from '../support/peers/free-port.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { isActive } from '../support/tokens.ts';
import { eventually } from '../support/wait.ts';
import {
  areInstalled,
  type Command,
  filesOf,
  pathOf,
  pythonWith,
  readExample,
  startExample,
  startProgram,
} from './example-process.ts';
import { openPerson, openPersonInChromium } from './person.ts';
import { tableOf } from './printed-table.ts';
import { type Exchange, openWire } from './wire.ts';

const wire = await openWire();
const service = await startService({ BASE_URL: wire.url });
wire.leadTo(service.url);
const { issuer } = service.app.services;
const { done } = createMaker(overGraphQL(service, await service.managementToken()));
const fixture = await createSignInFixture(service);
const { directory, user } = fixture;

// The API of examples/service-b.js. Its tokens live so briefly that the clients take a new one for each call.
const api = await directory.createResource(['orders:read'], {
  indicator: 'https://orders.example.com',
  accessTokenTtlSeconds: 60,
});
await directory.allowUser(user, api, ['orders:read']);
const apiPort = String(await freePort());
const orders = await startExample('service-b.js', { ISSUER: issuer, PORT: apiPort });

/** What each did, by its file. */
const outcomes = new Map<string, Readonly<Record<string, string>>>();
afterAll(async () => {
  await leaveChromium();
  const rows = [...clients, ...machines].map((recipe) => ({
    file: recipe.file,
    package: titleOf(recipe),
    ...(commands.get(recipe.file)
      ? outcomes.get(recipe.file)
      : { [abilities[0]]: 'left out: not installed' }),
  }));
  process.stdout.write(tableOf(rows));
});

/** What runs a file; nothing where something of it is not installed. */
function commandOf({ file, page, modules }: Pick<Client, 'file' | 'page' | 'modules'>) {
  const path = pathOf(`clients/${file}`);
  const command = (...words: Command): Command => words;
  if (modules !== undefined) {
    const python = pythonWith(modules);
    return python === undefined ? undefined : command(python, path);
  }
  if (file.startsWith('apache/')) {
    const isHere = existsSync('/usr/lib/apache2/modules/mod_auth_openidc.so');
    return isHere ? command('sh', pathOf('clients/apache/start.sh')) : undefined;
  }
  const isHere = areInstalled('clients') && (page === undefined || chromiumPath !== undefined);
  return isHere ? command(process.execPath, path) : undefined;
}
const commands = new Map(
  [...clients, ...machines].map((recipe) => [recipe.file, commandOf(recipe)]),
);
const here = clients.filter((client) => commands.get(client.file));

/** Creates an application as the page says, starts the client with it, and signs the fixture's user in. */
async function enter(given: Client, hasApi: boolean) {
  const { file, page, application, callback } = given;
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
  const environment = {
    ISSUER: issuer,
    CLIENT_ID: client.id,
    CLIENT_SECRET: client.secret,
    API_URL: orders,
    REFRESH_SECONDS: '0',
    PORT,
    ...(hasApi ? { API: api.indicator } : {}),
  };
  await startExample(`clients/${file}`, environment, commands.get(file));
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

/** What the page quotes, and the file does not have. */
function missingIn(recipe: Client | Machine) {
  const files = [recipe.file, ('page' in recipe && recipe.page) || []].flat();
  const text = files.map((file) => readExample(`clients/${file}`)).join('');
  return wordsOf(recipe).filter((words) => !text.includes(words));
}

describe.skipIf(here.length === 0)('a client signs people in as docs/clients.md says', () => {
  test.for(here)('$file', async (client) => {
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

    const fromSecond = wire.exchanges.length;
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
    const second = wire.exchanges.slice(fromSecond);
    expect(second.filter(({ status }) => status >= 400)).toEqual([]);
    expect([...new Set(second.filter(isAt('/oidc/token')).map(howItSendsItsSecret))]).toEqual([
      client.secret,
    ]);
    expect(missingIn(client)).toEqual([]);
  });
});

describe('a service gets its own token, and one by exchange', () => {
  test.for(machines.filter(({ file }) => commands.get(file)))('$file', async (machine) => {
    const client = await directory.createClient({ allowTokenExchange: true });
    await directory.allowClient(client, api, ['orders:read']);
    const { access_token } = await fixture.signIn({ resource: fixture.resource.indicator });
    const [command = '', ...parameters] = commands.get(machine.file) ?? [];
    const { PATH = '', HOME = '' } = process.env;
    const { stdout } = await promisify(execFile)(command, parameters, {
      env: {
        PATH,
        HOME,
        ISSUER: issuer,
        CLIENT_ID: client.id,
        CLIENT_SECRET: client.secret,
        API: api.indicator,
        API_URL: orders,
        SUBJECT_TOKEN: access_token,
      },
    });
    const answers = stdout.trim().split(/\s*\n/);
    expect(answers.map((answer) => JSON.parse(answer))).toEqual([
      { user: client.id, calledBy: client.id },
      { user: user.id, calledBy: client.id, through: { sub: client.id } },
    ]);
    outcomes.set(machine.file, { 'own token': 'yes', exchange: 'yes' });
    expect(missingIn(machine)).toEqual([]);
  });
});

const hasAgent = ['oidc-agent', 'curl'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);
test.runIf(hasAgent)('oidc-agent signs somebody in at the command line', async () => {
  const PORT = String(await freePort());
  const { application } = await done('createApplication', {
    name: 'oidc-agent',
    type: 'NATIVE',
    redirectUris: [`http://localhost:${PORT}`],
  });
  const HOME = await mkdtemp(join(tmpdir(), 'signet-agent-'));
  closeAtEnd(() => rm(HOME, { recursive: true }));
  const from = wire.exchanges.length;
  const program = startProgram(['sh', pathOf('clients/oidc-agent.sh')], {
    ISSUER: issuer,
    CLIENT_ID: application.id,
    API: api.indicator,
    API_URL: orders,
    PORT,
    HOME,
  });
  const [address] = await program.line(/^http\S+$/m);
  const browser = openBrowser(wire.url);
  const page = await browser.open(address);
  const { url } = await browser.submit(page, { identifier: 'Ada', password });
  expect((await fetch(url)).status).toBe(200);
  expect(await program.ended, program.complaints()).toBe(0);
  const answer = { user: user.id, calledBy: application.id };
  const answers = program.printed().match(/^\{.*\}$/gm) ?? [];
  expect(answers.map((text) => JSON.parse(text))).toEqual([answer, answer]);
  const seen = wire.exchanges.slice(from);
  expect(
    seen.filter(isAt('/oidc/auth')).map(({ parameters }) => parameters.get('audience')),
  ).toEqual([api.indicator]);
  const tokens = seen.filter(isAt('/oidc/token'));
  expect(tokens.map(({ parameters }) => parameters.get('grant_type'))).toEqual([
    'authorization_code',
    'refresh_token',
  ]);
  expect(tokens.map(audienceOf)).toEqual([api.indicator, api.indicator]);
  expect(tokens.map(howItSendsItsSecret)).toEqual([secretIn.emptyBasic, secretIn.emptyBasic]);
  expect(seen.filter(({ status }) => status >= 400)).toEqual([]);
});

test('each file of examples/clients is tried', () => {
  const files = ['.', 'apache', 'machines', 'python'].flatMap((folder) =>
    filesOf(`clients/${folder}`).map((file) => join(folder, file)),
  );
  const tried = [...clients, ...machines].map(({ file }) => file);
  expect(tried.toSorted()).toEqual(files.toSorted());
});
