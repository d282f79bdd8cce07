import { expect, test } from 'vitest';
import type { App } from '../../src/app.ts';
import { createSealing } from '../../src/keys/cipher.ts';
import { purposeOf } from '../../src/keys/sealed-columns.ts';
import { defaultSignInExperience } from '../../src/sign-in-experience/settings.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { send } from '../support/operations/graphql.ts';
import {
  kinds,
  readSealedValues,
  type SealedValue,
  writeSealedRows,
} from '../support/secrets/sealed-rows.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const before = 'the secret of before, for tests only';
const coming = 'the coming secret, for tests only as well';

const service = await startService({ SIGNET_SECRET: before, SIGNET_SECRET_PREVIOUS: coming });
const { services } = service.app;
const moved = { SIGNET_SECRET: coming, SIGNET_SECRET_PREVIOUS: before };

const stateOf = async ({ url }: Pick<TestService, 'url'>) => {
  const [ready, state] = (await (await fetch(`${url}/readyz`)).text()).split('\n');
  expect(ready).toBe('ready');
  return state;
};

/** The kinds of values that a secret decrypts without another. */
async function kindsUnder(secret: string) {
  const sealing = createSealing(secret);
  const values = await readSealedValues(services);
  const isOpen = ({ kind, owner, sealed }: (typeof values)[number]) =>
    sealing.secretOf(sealed, purposeOf(kind, owner)) !== undefined;
  const closed = new Set(values.filter((value) => !isOpen(value)).map(({ kind }) => kind));
  return values.map(({ kind }) => kind).filter((kind) => !closed.has(kind));
}
const every = expect.arrayContaining(kinds);

const openedBy = ({ services: { cipher } }: App, { kind, owner, sealed }: SealedValue) => {
  const purpose = purposeOf(kind, owner);
  return [purpose, cipher.decrypt(sealed, purpose)] as const;
};

/** Creates webhooks with credentials at one node, asks again at the other, and has that one read them. */
function startLoad(nodes: readonly Pick<TestService, 'url'>[], token: string) {
  let isOver = false;
  const faults: unknown[] = [];
  let done = 0;
  const work = async (worker: number) => {
    const [here, there] = [nodes[worker % nodes.length], nodes[(worker + 1) % nodes.length]];
    for (let turn = 0; !isOver; turn += 1) {
      const create = async (at: { readonly url: string } | undefined) => {
        const response = await fetch(`${at?.url}/api/webhooks`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${token}`,
            'idempotency-key': `${nodes[0]?.url} ${worker} ${turn}`.replaceAll(/[^\w]/g, '-'),
          },
          body: JSON.stringify({
            name: `Load ${worker} ${turn}`,
            url: 'https://example.com/hook',
            headers: { 'x-credential': 'a credential in a header' },
            enabled: false,
          }),
        });
        return { status: response.status, body: await response.json() };
      };
      const [first, again] = [await create(here), await create(there)];
      const id = first.body?.webhook?.id ?? first.body?.id;
      const read = await send<{ webhook: { headers: string[] } }>(
        { url: there?.url ?? '', token },
        `{ webhook(id: "${id}") { headers } }`,
      );
      if (
        first.status !== 201 ||
        JSON.stringify(again) !== JSON.stringify(first) ||
        read.data?.webhook.headers[0] !== 'x-credential'
      )
        faults.push(first, again, read);
      done += 1;
    }
  };
  const workers = Promise.all([0, 1, 2, 3].map(work));
  return {
    faults,
    turns: () => done,
    async stop() {
      isOver = true;
      await workers;
    },
  };
}

test('in a rolling change everything is encrypted anew, and nothing is ever unreadable', async () => {
  await writeSealedRows(services);
  const written = (await readSealedValues(services)).map((value) => openedBy(service.app, value));
  // The coming secret is there first, on every node.
  expect(await stateOf(service)).toBe('SIGNET_SECRET_PREVIOUS: not used yet');
  const token = await service.managementToken();
  const other = await startSecondNode(service, moved);
  const nodes = [service, other];
  expect(await stateOf(service)).toBe('SIGNET_SECRET_PREVIOUS: in use by other nodes');

  const load = startLoad(nodes, token);
  await eventually(async () => {
    const values = await readSealedValues(services);
    for (const { app } of nodes) {
      const opened = new Map(values.map((value) => openedBy(app, value)));
      for (const [owner, text] of written) expect(opened.get(owner)).toBe(text);
    }
    const stored = values.map(({ sealed }) => Buffer.from(sealed).toString('latin1')).join('\n');
    expect(stored).not.toMatch(/in clear|credential/);
    // The node with the secret of before keeps writing with it.
    expect(await kindsUnder(coming)).toEqual(expect.arrayContaining(['totp', 'signing-key']));
    expect(await stateOf(other)).toBe('SIGNET_SECRET_PREVIOUS: re-encrypting');
  }, 200);
  await eventually(() => expect(load.turns()).toBeGreaterThan(4));
  await load.stop();
  expect(load.faults).toEqual([]);

  await service.app.stop();
  service.clock.advance(16_000);
  await eventually(async () =>
    expect(await stateOf(other)).toBe('SIGNET_SECRET_PREVIOUS: re-encrypted'),
  );
  expect(await kindsUnder(coming)).toEqual(every);
  expect(await kindsUnder(before)).toEqual([]);
  const fresh = await fetchManagementToken(other, service.admin);
  const told = async (key: string) =>
    (
      await send<{ service: { previousSecret: string | null } }>(
        { url: other.url, token: key },
        '{ service { previousSecret } }',
      )
    ).data?.service.previousSecret;
  expect(await told(fresh)).toBe('RE_ENCRYPTED');

  const { sessionPolicy } = defaultSignInExperience;
  service.clock.advance(sessionPolicy.idleSeconds * 1000 - 60_000);
  expect(await stateOf(other)).toBe('SIGNET_SECRET_PREVIOUS: re-encrypted');
  service.clock.advance(120_000);
  expect(await stateOf(other)).toBe('SIGNET_SECRET_PREVIOUS is no longer needed');
  expect(await told(await fetchManagementToken(other, service.admin))).toBe('NO_LONGER_NEEDED');

  await expect(
    startSecondNode(service, { SIGNET_SECRET: before, SIGNET_SECRET_PREVIOUS: '' }),
  ).rejects.toThrow('SIGNET_SECRET is not the one');
  const last = await startSecondNode(service, {
    SIGNET_SECRET: coming,
    SIGNET_SECRET_PREVIOUS: '',
  });
  expect(await (await fetch(`${last.url}/readyz`)).text()).toBe('ready\n');
  await expect(fetchManagementToken(last, service.admin)).resolves.toBeDefined();
});
