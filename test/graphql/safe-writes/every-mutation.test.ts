import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../../support/operations/directory.ts';
import { createFingerprint } from '../../support/operations/fingerprint.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { operationCases } from '../../support/operations/operation-cases.ts';
import {
  type Call,
  documentOf,
  type Input,
  inputFields,
  mutations,
  overGraphQL,
} from '../../support/operations/operations.ts';
import { logReader } from '../../support/operations/told.ts';
import { startService } from '../../support/service.ts';

const service = await startService({
  ALLOW_PRIVATE_WEBHOOKS: 'true',
  SIGNING_KEY_LEAD_SECONDS: '0',
});
const { database, clock } = { ...service.app.services, clock: service.clock };
let admin = await service.managementToken();
const callAs = overGraphQL(service, admin);
const call: Call = (operation, input, token = admin) => callAs(operation, input, token);
const cases = operationCases(createMaker(call), seedDirectory(database, clock));

async function given(operation: string): Promise<Input> {
  const input = (await cases[operation]?.given()) ?? {};
  // One operation deletes the key that signed the token before.
  admin = await service.managementToken();
  return input;
}

const fingerprint = await createFingerprint(database.prisma);

/** Their work lies outside of the database. */
const outside = ['sendTestMessage', 'testWebhook', 'redeliver', 'replayEvents'];

async function ask(
  operation: string,
  input: Input,
  { key, directive }: { key?: string; directive?: string } = {},
) {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${admin}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ query: documentOf(operation, directive), variables: { input } }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: each operation's payload has a shape of its own.
  const { data, errors, extensions } = (await response.json()) as any;
  expect(errors).toBeUndefined();
  const isReplayed = response.headers.get('idempotency-replayed') === 'true';
  return { result: data[operation], dryRun: extensions?.dryRun, isReplayed };
}

describe.each(Object.keys(mutations).filter((operation) => !outside.includes(operation)))(
  '%s',
  (operation) => {
    test('is rehearsed, then done once', async () => {
      const input = await given(operation);
      const untouched = await fingerprint();
      const rehearsed = await ask(operation, input, { directive: '@dryRun' });
      expect(rehearsed.result.__typename).toMatch(/Payload$/);
      expect(await fingerprint()).toEqual(untouched);

      const { endOfLog, eventsSince } = logReader(service, admin);
      const before = await endOfLog();
      const key = `once-${operation}`;
      const first = await ask(operation, input, { key });
      expect(first.result.__typename).toMatch(/Payload$/);
      expect(first.isReplayed).toBe(false);
      const events = await eventsSince(before);
      expect(events.map(({ name }) => name)).toEqual(
        rehearsed.dryRun.events.map(({ type }: { type: string }) => type),
      );

      const written = await fingerprint();
      const second = await ask(operation, input, { key });
      // What changed nothing may be kept or not.
      if (events.length > 0) expect(second.isReplayed).toBe(true);
      if (second.isReplayed) expect(second.result).toEqual(first.result);
      expect(await fingerprint()).toEqual(written);
    });

    test.runIf('expectedVersion' in inputFields(operation))('compares a version', async () => {
      const input = await given(operation);
      const untouched = await fingerprint();
      const refused = await call(operation, { ...input, expectedVersion: 999 });
      expect(refused).toMatchObject({
        code: 'VERSION_CONFLICT',
        currentVersion: expect.any(Number),
      });
      expect(await fingerprint()).toEqual(untouched);
      const { currentVersion } = refused as unknown as { currentVersion: number };
      const done = await call(operation, { ...input, expectedVersion: currentVersion });
      expect(done).toMatchObject({ code: 'OK' });
      if (operation.startsWith('delete')) return;
      const again = await call(operation, { ...input, expectedVersion: currentVersion });
      expect(again).toMatchObject({ code: 'VERSION_CONFLICT', currentVersion: currentVersion + 1 });
    });
  },
);

describe.each(outside)('%s', (operation) => {
  test('is not rehearsed', async () => {
    const input = await given(operation);
    const untouched = await fingerprint();
    const { result } = await ask(operation, input, { directive: '@dryRun' });
    expect(result).toMatchObject({ __typename: 'NotAllowedError', code: 'NOT_ALLOWED' });
    expect(await fingerprint()).toEqual(untouched);
  });
});
