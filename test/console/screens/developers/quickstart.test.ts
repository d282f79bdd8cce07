import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { closeAtEnd } from '../../../support/cleanup.ts';
import { seedDirectory } from '../../../support/operations/directory.ts';
import { expectAccessible } from '../../../support/peers/axe.ts';
import { chromiumPath } from '../../../support/peers/chromium.ts';
import { freePort } from '../../../support/peers/free-port.ts';
import { signInAtScreen, startConsoleAtWork } from '../../../support/people/console-screen.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const packages = join(root, 'test/fixtures/quickstart/packages.js');

describe.runIf(chromiumPath)('the quickstart of an application', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const directory = seedDirectory(at.service.testDatabase.database, at.service.clock);
  const { prisma } = at.service.testDatabase.database;
  const folder = await mkdtemp(join(tmpdir(), 'signet-quickstart-'));
  const started = new Set<ChildProcess>();
  afterAll(async () => {
    for (const child of started) child.kill();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens an example at the screen, and reads it. */
  async function readExample(
    application: { readonly id: string; readonly name: string },
    tab: string,
    label: string,
  ): Promise<string> {
    await at.open(`applications/${application.id}`, application.name);
    await at.tab(tab);
    return at.page.getByRole('group', { name: label, exact: true }).locator('pre').innerText();
  }

  /** Runs a program until it ends; or, if it listens, until then. */
  function run(command: string, args: readonly string[], secret: string) {
    const child = spawn(command, args, {
      cwd: folder,
      env: {
        ...process.env,
        CLIENT_SECRET: secret,
        SESSION_SECRET: 'a long random text of the application, for its sessions',
      },
    });
    started.add(child);
    const errors: string[] = [];
    child.stderr.on('data', (text) => errors.push(String(text)));
    const ended = once(child, 'close');
    return { child, errors, ended, lines: createInterface(child.stdout) };
  }

  async function runNode(text: string, secret: string) {
    const file = join(folder, `${started.size}.mjs`);
    await writeFile(file, text);
    return run(process.execPath, ['--import', packages, file], secret);
  }

  /** A browser in which nobody is signed in. */
  async function visit<Result>(work: (page: Page) => Promise<Result>): Promise<Result> {
    const context = await at.chromium.newContext();
    try {
      return await work(await context.newPage());
    } finally {
      await context.close();
    }
  }

  /** Serves pages to the browser at an address of their own. Redirects lead to it, which `route` does not see. */
  async function serve(answer: (path: string) => Promise<readonly [type: string, body: string]>) {
    const server = createServer(async ({ url = '/' }, response) => {
      const [type, body] = await answer(new URL(url, 'http://localhost').pathname);
      response.writeHead(200, { 'content-type': type }).end(body);
    });
    await new Promise<void>((listening) => server.listen(0, listening));
    closeAtEnd(async () => {
      server.closeAllConnections();
      server.close();
    });
    return `http://localhost:${(server.address() as AddressInfo).port}/`;
  }

  const signedIn = async () =>
    `Signed in as ${(await prisma.user.findFirstOrThrow({ where: { username: 'ada' } })).id}`;

  test.each(['Express', 'Fastify'])('the example for %s signs people in', async (name) => {
    const port = await freePort();
    const home = `http://localhost:${port}/`;
    const application = { name: `Shop with ${name}`, redirectUris: [`${home}signed-in`] };
    const { id, secret } = await directory.createClient({ type: 'TRADITIONAL', ...application });
    const example = await readExample({ id, ...application }, name, `Example for ${name}`);
    const { errors, ended, lines } = await runNode(example, secret);
    await Promise.race([
      once(lines, 'line'),
      ended.then(() => Promise.reject(new Error(errors.join('')))),
    ]);
    await visit(async (page) => {
      await page.goto(home);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await signInAtScreen(page);
      await page.getByText(await signedIn()).waitFor();
      await page.reload();
      await page.getByText(await signedIn()).waitFor();
      // Whoever brings no sign-in of theirs is not signed in by somebody else's address.
      await page.context().clearCookies({ name: 'app-session' });
      const refused = await page.goto(`${home}signed-in?code=anything&state=anything`);
      expect(refused?.status()).toBe(500);
    });
  });

  test('the example for Next.js has what Auth.js needs', async () => {
    const redirectUris = ['https://shop.example.com/api/auth/callback/signet'];
    const { id, secret } = await directory.createClient({
      type: 'TRADITIONAL',
      name: 'Shop with Next',
      redirectUris,
    });
    const text = await readExample(
      { id, name: 'Shop with Next' },
      'Next.js',
      'Example for Next.js',
    );
    expect(text).toContain(redirectUris[0]);
    const [auth = ''] = text.split('\n// app/api/');
    const { lines, errors, ended } = await runNode(auth, secret);
    const told: string[] = [];
    lines.on('line', (line) => told.push(line));
    await ended;
    expect(errors.join('')).toBe('');
    const { providers } = JSON.parse(told.join('')) as { providers: Record<string, string>[] };
    expect(providers).toMatchObject([
      { id: 'signet', type: 'oidc', clientId: id, clientSecret: secret, checks: ['pkce', 'state'] },
    ]);
    const issuer = providers[0]?.['issuer'] ?? '';
    const found = await fetch(`${issuer}/.well-known/openid-configuration`);
    expect(await found.json()).toMatchObject({ issuer });
  });

  test('the example for a single-page app signs people in, in the browser', async () => {
    let example = '';
    const home = await serve(async (path) => {
      if (path === '/example.js') return ['text/javascript', example];
      if (path.startsWith('/node_modules/'))
        return ['text/javascript', await readFile(join(root, path), 'utf8')];
      return ['text/html', page];
    });
    const application = { name: 'Shop in one page', redirectUris: [`${home}callback`] };
    const { id } = await directory.createClient({ type: 'SPA', ...application });
    example = await readExample(
      { id, ...application },
      'Single-page app',
      'Example for a single-page app',
    );
    const modules = {
      'openid-client': '/node_modules/openid-client/build/index.js',
      oauth4webapi: '/node_modules/oauth4webapi/build/index.js',
      'jose/errors': '/node_modules/jose/dist/webapi/util/errors.js',
      'jose/jwe/compact/decrypt': '/node_modules/jose/dist/webapi/jwe/compact/decrypt.js',
    };
    const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports: modules })}</script>
      <script type="module">
        import { finishSignIn, signIn } from '/example.js';
        const button = document.querySelector('button');
        if (location.pathname === '/callback') {
          const tokens = await finishSignIn();
          button.replaceWith('Signed in as ' + tokens.claims().sub);
        } else button.addEventListener('click', signIn);
        document.body.dataset.isReady = 'true';
      </script><body><button>Sign in</button></body>`;
    await visit(async (shown) => {
      await shown.goto(home);
      await shown.locator('[data-is-ready]').waitFor();
      await shown.getByRole('button', { name: 'Sign in' }).click();
      await signInAtScreen(shown);
      await shown.getByText(await signedIn()).waitFor();
    });
  });

  test.each(['TRADITIONAL', 'SPA'] as const)('the commands sign people in to %s', async (type) => {
    const redirectUri = `${await serve(async () => ['text/plain', 'signed in'])}callback`;
    const name = `By hand ${type}`;
    const { id, secret } = await directory.createClient({
      type,
      name,
      redirectUris: [redirectUri],
    });
    const commands = await readExample({ id, name }, 'curl', 'Commands for a sign-in');
    const { child, lines, errors, ended } = run('sh', ['-c', commands], secret);
    const told: string[] = [];
    const address = new Promise<string>((resolve) => {
      lines.on('line', (line) => {
        told.push(line);
        if (line.startsWith('http')) resolve(line);
      });
    });
    const code = await visit(async (page) => {
      await page.goto(await address);
      await signInAtScreen(page);
      await page.waitForURL((url) => url.href.startsWith(redirectUri));
      return new URL(page.url()).searchParams.get('code');
    });
    child.stdin.end(`${code}\n`);
    await ended;
    expect(errors.join('')).toBe('');
    const { id_token } = JSON.parse(told.at(-1) ?? '') as { id_token: string };
    expect(decodeJwt(id_token)).toMatchObject({
      aud: id,
      sub: (await signedIn()).replace('Signed in as ', ''),
    });
  });

  test('the example for Node.js gets a token for an API', async () => {
    const orders = await directory.createResource(['read']);
    const { id, secret } = await directory.createClient({ name: 'Order service' });
    const example = await readExample(
      { id, name: 'Order service' },
      'Node.js',
      'Example for Node.js',
    );
    const { lines, errors, ended } = await runNode(example, secret);
    const told: string[] = [];
    lines.on('line', (line) => told.push(line));
    await ended;
    expect(errors.join('')).toBe('');
    expect(decodeJwt(told[0]?.split(' ')[0] ?? '')).toMatchObject({
      sub: id,
      aud: orders.indicator,
    });
  });

  test.each(['en', 'de'] as const)('axe finds nothing, in %s', async (locale) => {
    const { id } = await directory.createClient({ type: 'TRADITIONAL', name: 'Shop for axe' });
    await at.inLanguage(locale, async () => {
      await at.comeTo(`applications/${id}`);
      await at.page.getByRole('tab', { name: 'Express' }).click();
      await expectAccessible(at.page, `quickstart ${locale}`);
    });
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
