import { test as anywhere, expect } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

// The embedded database has no other process.
const test = anywhere.runIf(process.env['TEST_DATABASE_URL']);

const baseUrl = 'https://id.example.com';
const service = await startService({ BASE_URL: baseUrl });
const { prisma } = service.app.services.database;
const token = await service.managementToken();

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly isThis: boolean;
  readonly differsIn: readonly string[];
}
async function listed({ url }: Pick<TestService, 'url'>): Promise<readonly Listed[]> {
  const { data } = await send<{ service: { nodes: readonly Listed[] } }>(
    { url, token },
    '{ service { nodes { name version isThis differsIn startedAt seenAt } } }',
  );
  return data?.service.nodes ?? [];
}
const ready = async ({ url }: Pick<TestService, 'url'>) => {
  const response = await fetch(`${url}/readyz`);
  return [response.status, await response.text()];
};
const warnings = () =>
  service.logged.filter(
    ({ msg }) => msg === 'other processes of the service are set up differently',
  );

/** Starts another node while the row of the first one says something else. */
async function startBeside(row: { shared?: object; secrets?: string[] }) {
  const first = await prisma.node.findFirstOrThrow();
  const shared = { ...(first.shared as object), ...row.shared };
  await prisma.node.update({ where: { id: first.id }, data: { ...row, shared } });
  try {
    return await startSecondNode(service);
  } finally {
    const { shared: before, secrets } = first;
    await prisma.node.update({ where: { id: first.id }, data: { shared: before ?? {}, secrets } });
  }
}

test('lists the living processes, until they stop', async () => {
  expect(await listed(service)).toMatchObject([{ isThis: true, differsIn: [] }]);
  const second = await startSecondNode(service);
  expect(await listed(second)).toMatchObject([
    { isThis: false, differsIn: [] },
    { isThis: true, differsIn: [] },
  ]);
  expect(await ready(second)).toEqual([200, 'ready\n']);
  await second.stop();
  expect(await listed(service)).toHaveLength(1);
});

test('tells at the start in which variables processes differ, and when they agree again', async () => {
  const before = warnings().length;
  const second = await startSecondNode(service, { SIGNING_ALG: 'ES384', LOG_LEVEL: 'fatal' });
  const told = [200, 'ready\nother processes differ in: SIGNING_ALG\n'];
  expect(await ready(second)).toEqual(told);
  expect((await listed(service)).map(({ differsIn }) => differsIn)).toEqual([[], ['SIGNING_ALG']]);
  // The one that ran before looks every few seconds.
  await eventually(async () => expect(await ready(service)).toEqual(told));
  expect(warnings().slice(before)).toMatchObject([{ processes: [{ differsIn: ['SIGNING_ALG'] }] }]);
  await second.stop();
  await eventually(async () => expect(await ready(service)).toEqual([200, 'ready\n']));
});

test.each([
  ['another BASE_URL', { BASE_URL: 'https://other.example.com' }],
  ['another path', { BASE_URL: `${baseUrl}/auth` }],
])('ends a start with %s than that of a living process', async (_title, environment) => {
  await expect(startSecondNode(service, environment)).rejects.toMatchObject({
    name: 'StartError',
    message: expect.stringContaining(`has ${baseUrl}:`),
  });
  expect(await listed(service)).toHaveLength(1);
});

test('ends a start with a secret that a living process does not have', async () => {
  await expect(startBeside({ secrets: ['another'] })).rejects.toMatchObject({
    name: 'StartError',
    message: expect.stringContaining('SIGNET_SECRET'),
  });
});

test('another version beside is no fault', async () => {
  const second = await startBeside({ shared: { VERSION: '0.0.9', EVENT_TYPES: 'fewer' } });
  expect(await ready(second)).toEqual([200, 'ready\n']);
  await second.stop();
});

test('a process that was killed ends no start once it has been silent for half a minute', async () => {
  const [row] = await prisma.node.findMany();
  if (!row) throw new Error('The service is not on the list.');
  const seenAt = new Date(Date.now() - 31_000);
  const shared = { ...(row.shared as object), BASE_URL: 'https://gone.example.com' };
  const gone = { ...row, id: 'gone', seenAt, shared };
  await prisma.node.create({ data: gone });
  const second = await startSecondNode(service);
  expect(await listed(second)).toHaveLength(2);
  await second.stop();
});
