import { describe, expect, inject, test } from 'vitest';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { callRest } from '../support/operations/rest.ts';
import { startFront } from '../support/ordeal/front.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { connect, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { enrollApp } from '../support/people/authenticator-app.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startProcess } from '../support/process.ts';
import { unpackCodeBefore } from '../support/release/code.ts';
import { startService } from '../support/service.ts';
import { exchange, isActive, userToken } from '../support/tokens.ts';
import { eventually } from '../support/wait.ts';

// The embedded database has one node.
describe.runIf(inject('postgresql'))(
  'a node of the version before, beside one of today',
  async () => {
    if (!inject('postgresql')) return;
    const settings = { ALLOW_PRIVATE_WEBHOOKS: 'true', TRUST_PROXY: '1' };
    const SIGNET_SECRET = 'the secret of both nodes, for tests only';

    // Requests of people go to the nodes in turn: none can rely on who answered the one before.
    const nodes: { readonly url: string }[] = [];
    const front = await startFront(async (number) => nodes[number % nodes.length]?.url ?? '');
    closeAtEnd(() => front.close());
    const service = await startService({ ...settings, SIGNET_SECRET, BASE_URL: front.url });
    // It finds the schema of today.
    const node = startProcess(
      {
        ...settings,
        SIGNET_SECRET,
        BASE_URL: front.url,
        DATABASE_URL: service.testDatabase.url as string,
        DATA_DIR: service.dataDir,
      },
      await unpackCodeBefore(),
    );
    closeAtEnd(async () => {
      node.child.kill('SIGKILL');
      await node.ended;
    });
    nodes.push({ url: await node.ready }, service);

    // Each takes the tokens of the other.
    const url = await node.ready;
    const before = { url, token: await service.managementToken() };
    const today = { url: service.url, token: await fetchManagementToken({ url }, service.admin) };
    const directions = [
      { name: 'before', here: before, there: today },
      { name: 'today', here: today, there: before },
    ] as const;

    const fixture = await createSignInFixture(service);

    /** The record of an answer, which may have others beside it. */
    const recordOf = (body: Record<string, unknown>): Record<string, unknown> =>
      'id' in body
        ? body
        : (Object.values(body)
            .filter((value) => typeof value === 'object' && value !== null)
            .find((value) => 'id' in value) ?? {});

    test.each<[path: string, input: (name: string) => object]>([
      ['/users', (name) => ({ username: name, primaryEmail: `${name}@example.com`, password })],
      ['/roles', (name) => ({ name, type: 'USER' })],
      ['/resources', (name) => ({ name, indicator: `https://${name}.example.com` })],
      ['/applications', (name) => ({ name, type: 'TRADITIONAL', redirectUris: [redirectUri] })],
      ['/organizations', (name) => ({ name, customData: { of: name } })],
      ['/organization-roles', (name) => ({ name })],
      ['/organization-scopes', (name) => ({ name })],
      ['/webhooks', (name) => ({ name, url: 'http://127.0.0.1:9/', events: ['ROLE_DELETED'] })],
    ])('%s of either are the same at both, change at both and go at both', async (path, input) => {
      for (const { name, here, there } of directions) {
        const made = await callRest(here, 'POST', path, input(name));
        expect(made).toMatchObject({ status: 201 });
        const record = recordOf(made.body);
        const at = `${path}/${record['id']}`;
        const found = await callRest(there, 'GET', at);
        // What is new is of today alone.
        const [less, more] = here === before ? [record, found.body] : [found.body, record];
        expect(recordOf(more)).toMatchObject(recordOf(less));

        const renamed = await callRest(there, 'PATCH', at, { name: `${name}_2` });
        expect(renamed).toMatchObject({ status: 200 });
        const { body: changed } = await callRest(here, 'GET', at);
        expect(recordOf(changed)).toMatchObject({
          name: `${name}_2`,
          version: (record['version'] as number) + 1,
        });

        expect((await callRest(there, 'DELETE', at)).status).toBeLessThan(300);
        expect(await callRest(here, 'GET', at)).toMatchObject({ status: 404 });
      }
    });

    test('changes of one come to the subscribers of the other, from the same place in one log', async () => {
      for (const { name, here, there } of directions) {
        const after = await logEnd(here, fixture.database);
        const early = subscribe(connect(here), { after });
        await callRest(there, 'POST', '/roles', { name: `seen from ${name}`, type: 'USER' });
        const [event] = await early.received(1);
        expect(event).toMatchObject({ name: 'Role.Created' });
        // Each goes on from a cursor of the other.
        const late = subscribe(connect(there), { after });
        expect(await late.received(1)).toEqual([expect.objectContaining({ id: event?.id })]);
      }
      const idsAt = async (at: typeof before) =>
        (await callRest(at, 'GET', '/events?first=100')).body.events.map(
          ({ id }: { id: string }) => id,
        );
      await eventually(async () => {
        const ids = await idsAt(before);
        expect(ids.length).toBeGreaterThan(30);
        expect(ids).toEqual(await idsAt(today));
      });
    });

    test('a change is delivered once, whoever made it and whoever delivers it', async () => {
      const receiver = await startReceiver();
      for (const { name, here } of directions) {
        const hook = { name, url: `${receiver.url}/${name}`, events: ['ORGANIZATION_CREATED'] };
        expect(await callRest(here, 'POST', '/webhooks', hook)).toMatchObject({ status: 201 });
      }
      const names = Array.from({ length: 20 }, (_, number) => `Organization ${number}`);
      await Promise.all(
        names.map((name, number) =>
          callRest(number % 2 ? before : today, 'POST', '/organizations', { name }),
        ),
      );
      await receiver.arrived(2 * names.length);
      // Whatever is still on its way would come before this.
      await callRest(today, 'POST', '/organizations', { name: 'the last' });
      const received = await receiver.until(
        (all) =>
          all.filter(({ json }) => JSON.stringify(json.data).includes('the last')).length === 2,
      );
      const messages = received.map(({ path, json }) => `${path} ${json.id}`);
      expect(messages).toHaveLength(2 * names.length + 2);
      expect(new Set(messages).size).toBe(messages.length);
    });

    test('tokens are exchanged, looked up and revoked at either', async () => {
      const { user, resource, client } = fixture;
      const exchanging = await fixture.createApplication({ allowTokenExchange: true });
      for (const { here, there } of directions) {
        const answer = await exchange(here, exchanging, {
          subject_token: await userToken(service, user.id, client),
          resource: resource.indicator,
          scope: 'read',
        });
        expect(answer).toMatchObject({ status: 200, body: { scope: 'read' } });
        const { access_token: token } = answer.body;
        expect(await isActive(there, exchanging, token)).toBe(true);
        const revoked = await fetch(`${there.url}/oidc/token/revocation`, {
          method: 'POST',
          body: new URLSearchParams({
            token: String(token),
            client_id: exchanging.id,
            client_secret: exchanging.secret,
          }),
        });
        expect(revoked.status).toBe(200);
        expect(await isActive(here, exchanging, token)).toBe(false);
      }
    });

    test('people sign in, stay so and refresh their tokens, whichever node answers', async () => {
      for (let turn = 0; turn < 4; turn += 1) {
        const browser = openBrowser(front.url);
        const scope = 'openid offline_access';
        const parameters = { prompt: 'consent' };
        let { refresh_token: refreshToken } = await fixture.signIn({ browser, scope, parameters });
        for (const { url } of [...nodes, ...nodes]) {
          const refreshed = await fetch(`${url}/oidc/token`, {
            method: 'POST',
            body: new URLSearchParams({
              grant_type: 'refresh_token',
              refresh_token: refreshToken ?? '',
              client_id: fixture.client.id,
              client_secret: fixture.client.secret,
            }),
          });
          expect(refreshed.status).toBe(200);
          refreshToken = ((await refreshed.json()) as { refresh_token: string }).refresh_token;
        }
        for (const _ of nodes) {
          const { visit } = await openSignInPage(service, fixture.client, { browser });
          expect(visit.url.href).toContain(redirectUri);
        }
      }
    });

    test('a sign-in without a browser, with a second factor, goes on at the other node', async () => {
      await changeSettings(service, today.token, { factors: ['TOTP'] });
      const client = await fixture.createApplication({ allowHeadlessSignIn: true });
      const primaryEmail = 'careful@example.com';
      await fixture.createUser({ primaryEmail });
      const through = { ...service, url: front.url };
      const begin = async () => {
        const headless = await startHeadless(through, { clientId: client.id, redirectUri });
        const identified = await step(headless.send, 'signInWithPassword', {
          identifier: primaryEmail,
          password,
        });
        expect(identified).toMatchObject({ __typename: 'SignInWithPasswordPayload' });
        return headless.send;
      };
      const end = async (sending: Awaited<ReturnType<typeof begin>>) =>
        expect((await step(sending, 'submitInteraction'))['redirectTo']).toContain(redirectUri);
      const enrolling = await begin();
      // The node of before has the time of the machine.
      const app = await enrollApp(enrolling, service.clock);
      await end(enrolling);
      expect(app.code()).toMatch(/^\d{6}$/);
      const { prisma } = fixture.database;
      // The code of this half minute has been used.
      await prisma.userFactor.updateMany({ data: { lastStep: null } });
      const again = await begin();
      expect(await step(again, 'verifyTotp', { code: app.code() })).toMatchObject({
        __typename: 'VerifyTotpPayload',
      });
      await end(again);
    });

    test('what only today knows is no fault of the node of before', async () => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const added = await callRest(today, 'POST', '/registration-tokens', { expiresAt });
      expect(added).toMatchObject({ status: 201 });
      const device = { name: 'Television', type: 'NATIVE', allowDeviceGrant: true };
      const { body } = await callRest(today, 'POST', '/applications', device);
      const { id } = recordOf(body);
      const seen = await callRest(before, 'PATCH', `/applications/${id}`, { name: 'Radio' });
      expect(seen).toMatchObject({ status: 200 });
      const { body: kept } = await callRest(today, 'GET', `/applications/${id}`);
      expect(recordOf(kept)).toMatchObject({ name: 'Radio', allowDeviceGrant: true });
      // A list that has an event of a type that it does not know is refused by it, until all nodes know it.
      for (const path of ['/applications', '/events?types=ROLE_CREATED&first=100']) {
        expect(await callRest(before, 'GET', path)).toMatchObject({ status: 200 });
      }
    });

    test('neither has logged an error', () => {
      const lines = node
        .stdout()
        .split('\n')
        .filter((line) => line.startsWith('{'));
      const logged = lines.map((line) => JSON.parse(line) as { level: number });
      expect(logged.length).toBeGreaterThan(0);
      expect([...logged, ...service.logged].filter((line) => Number(line['level']) >= 50)).toEqual(
        [],
      );
    });
  },
);
