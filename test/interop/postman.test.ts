import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { managementScopes } from '../../src/auth/scopes.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createFingerprint } from '../support/operations/fingerprint.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';
import { areInstalled, pathOf } from './example-process.ts';
import { createOneOfEach } from './one-of-each.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const fingerprint = await createFingerprint(service.app.services.database.prisma);
const all = await service.managementToken();
const readScopes = [...managementScopes.keys()].filter((scope) => scope.endsWith(':read'));
const readOnly = await service.managementToken(readScopes.join(' '));

const folder = await mkdtemp(join(tmpdir(), 'signet-postman-'));
closeAtEnd(() => rm(folder, { recursive: true, force: true }));

/** A request that was sent, and its answer. */
interface Execution {
  readonly name: string;
  readonly method: string;
  readonly status: number | undefined;
  /** The code of the problem that it was answered with. */
  readonly code: string | undefined;
  /** Whether the collection's own test was skipped. */
  readonly isSkipped: boolean;
}

interface Report {
  readonly run: {
    readonly executions: readonly {
      readonly item: { readonly name: string; readonly request: { readonly method: string } };
      readonly response?: { readonly code: number; readonly stream: { readonly data: number[] } };
      readonly assertions?: readonly { readonly skipped?: boolean }[];
    }[];
    readonly failures: readonly { readonly source: { readonly name: string } }[];
  };
}

async function runNode(file: string, args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, [pathOf(join('postman', file)), ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  return code;
}

const report = join(folder, 'report.json');

/** Runs the collection by newman. */
async function newman(
  variables: Readonly<Record<string, string>>,
  folders: readonly string[] = [],
  collection = 'collection.json',
): Promise<{ exit: number | null; executions: readonly Execution[]; failed: readonly string[] }> {
  await rm(report, { force: true });
  const exit = await runNode('node_modules/newman/bin/newman.js', [
    'run',
    collection,
    ...['--reporters', 'json', '--reporter-json-export', report],
    ...Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]),
    ...folders.flatMap((name) => ['--folder', name]),
  ]);
  const { run } = JSON.parse(await readFile(report, 'utf8')) as Report;
  return {
    exit,
    failed: run.failures.map(({ source }) => source.name),
    executions: run.executions.map(({ item, response, assertions = [] }) => ({
      name: item.name,
      method: item.request.method,
      status: response?.code,
      code: response && JSON.parse(Buffer.from(response.stream.data).toString()).code,
      isSkipped: assertions.some(({ skipped }) => skipped === true),
    })),
  };
}

const signingKeys = async (): Promise<{ id: string }[]> =>
  (await callRest({ url: service.url, token: all }, 'GET', '/signing-keys')).body.signingKeys;
const namesOf = (executions: readonly Execution[]) => executions.map(({ name }) => name).toSorted();
// Their work could not be undone.
const outside = ['Test webhook', 'Replay events', 'Redeliver', 'Send test message'];

describe.runIf(areInstalled('postman'))('the collection of the OpenAPI document', () => {
  let msgId: string;
  let requests: readonly string[];
  let reads: readonly string[];

  beforeAll(async () => {
    const { body } = await callRest(service, 'GET', '/openapi.json');
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(body));
    expect(await runNode('make-collection.js', [])).toBe(0);
    const operations = Object.values<Record<string, { summary: string }>>(body.paths);
    const summaries = (methods: (typeof operations)[number]) =>
      Object.values(methods).map(({ summary }) => summary);
    requests = operations.flatMap(summaries).toSorted();
    reads = operations.flatMap(({ get }) => get?.summary ?? []).toSorted();
    msgId = await createOneOfEach(service);
  });

  test('reads everything, with a token that can only read', async () => {
    const before = await fingerprint();
    const { exit, executions, failed } = await newman({ bearerToken: readOnly, msgId });
    expect({ exit, failed }).toEqual({ exit: 0, failed: [] });
    expect(namesOf(executions)).toEqual(reads);
    // This one is for the scope `all`, and its test is marked as skipped.
    const beyond = executions.filter(({ status }) => status !== 200);
    expect(beyond).toMatchObject([
      { name: 'List signing keys', status: 403, code: 'FORBIDDEN', isSkipped: true },
    ]);
    expect(executions.filter(({ isSkipped }) => isSkipped)).toEqual(beyond);
    expect(await fingerprint()).toEqual(before);
  });

  test('leaves a request out where no answer named the record', async () => {
    const { exit, executions } = await newman({ bearerToken: readOnly }, ['messages', 'Get user']);
    expect({ exit, executions }).toEqual({ exit: 0, executions: [] });
  });

  test('fails for a token that lacks a scope', async () => {
    const bearerToken = await service.managementToken('roles:read');
    const { exit, failed } = await newman({ bearerToken }, ['List users', 'List roles']);
    expect(exit).toBe(1);
    expect(failed).toEqual(['List users']);
  });

  test('makes no change unless it is asked for, whatever the token', async () => {
    const before = await fingerprint();
    const { exit, executions } = await newman({ bearerToken: all, msgId });
    expect({ exit, names: namesOf(executions) }).toEqual({ exit: 0, names: reads });
    expect(executions.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await fingerprint()).toEqual(before);
  });

  test('tries every change as a dry run, and changes nothing', async () => {
    const before = await fingerprint();
    const { executions } = await newman({ bearerToken: all, msgId, writes: 'dry-run' });
    expect(namesOf(executions)).toEqual(requests.filter((name) => !outside.includes(name)));
    // What the rules refuse here: there is no resource as in the example, the newest role is one for users, the
    // organization has these already, and another key has to take over first.
    const refused = executions.filter(({ status = 0 }) => status >= 300);
    expect(refused.map(({ name, code }) => [name, code])).toEqual([
      ['Create personal access token', 'INVALID_INPUT'],
      ['Assign organization application roles', 'INVALID_INPUT'],
      ['Replace organization application roles', 'INVALID_INPUT'],
      ['Add organization email domain', 'CONFLICT'],
      ['Add organization identity provider', 'CONFLICT'],
      ['Remove organization application role', 'NOT_FOUND'],
      ['Delete signing key', 'NOT_ALLOWED'],
    ]);
    expect(await fingerprint()).toEqual(before);
  });

  test('changes nothing by a token that can only read, even when it is asked for', async () => {
    const before = await fingerprint();
    // It cannot list the keys.
    const keyId = (await signingKeys())[0]?.id ?? '';
    const given = { bearerToken: readOnly, msgId, keyId, writes: 'yes' };
    const { executions } = await newman(given);
    expect(namesOf(executions)).toEqual(requests);
    const changes = executions.filter(({ method }) => method !== 'GET');
    expect(changes.filter(({ status }) => status !== 403)).toEqual([]);
    expect(await fingerprint()).toEqual(before);
  });

  test('makes the changes that are asked for by name', async () => {
    const before = await signingKeys();
    const asked = ['Rotate signing key', 'Create organization', 'Get organization'];
    const { exit, executions } = await newman({ bearerToken: all, writes: 'yes' }, asked);
    expect(exit).toBe(0);
    expect(executions.map(({ name, status }) => [name, status])).toEqual([
      ['Create organization', 201],
      ['Get organization', 200],
      ['Rotate signing key', 200],
    ]);
    expect(await signingKeys()).toHaveLength(before.length + 1);
  });

  test('makes dry runs even where its scripts fail', async () => {
    const before = await fingerprint();
    const collection = JSON.parse(await readFile(join(folder, 'collection.json'), 'utf8'));
    collection.event[0].script.exec = ["throw new Error('It fails.');"];
    await writeFile(join(folder, 'failing.json'), JSON.stringify(collection));
    const folders = ['signing-keys', 'message-senders', 'configuration'];
    const { executions } = await newman({ bearerToken: all }, folders, 'failing.json');
    const done = executions.filter(({ status = 0 }) => status < 300);
    expect(namesOf(done)).toContain('Rotate signing key');
    expect(await fingerprint()).toEqual(before);
  });

  test('refuses a misspelt wish', async () => {
    const { exit, executions } = await newman({ bearerToken: all, writes: 'dryrun' }, ['users']);
    expect({ exit, executions }).toEqual({ exit: 1, executions: [] });
  });
});
