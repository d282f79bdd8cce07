import { describe, expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { openConsole, setUpConsole, signInToConsole } from '../support/people/console.ts';
import { startService } from '../support/service.ts';
import { adminOf, createUser } from '../support/webhooks.ts';

const path = '/console/export/events';
const service = await startService();
const { prisma } = service.testDatabase.database;
const browser = await setUpConsole(service);

const idsIn = async (response: Response) =>
  (await response.text())
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);

describe('the export of events for a session of the console', () => {
  test('has the events that match, as lines of JSON in a file', async () => {
    await createUser(await adminOf(service));
    const response = await browser.request(`${path}?types=USER_CREATED`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/x-ndjson');
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="events.ndjson"',
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const events = await prisma.event.findMany({ where: { type: 'User.Created' } });
    expect((await idsIn(response)).sort()).toEqual(events.map(({ id }) => id).sort());
    expect(events.length).toBeGreaterThan(1);
  });

  test('refuses what is no parameter of an export', async () => {
    expect((await browser.request(`${path}?types=NOTHING`)).status).toBe(400);
    expect((await browser.request(`${path}?first=3`)).status).toBe(400);
  });

  test('is not for pages of other sites', async () => {
    for (const [name, value] of [
      ['sec-fetch-site', 'cross-site'],
      ['sec-fetch-site', 'same-site'],
      ['origin', 'https://elsewhere.example.com'],
    ] as const) {
      expect((await browser.request(path, { headers: { [name]: value } })).status).toBe(403);
    }
    expect(
      (await browser.request(path, { headers: { 'sec-fetch-site': 'same-origin' } })).status,
    ).toBe(200);
  });

  test('needs a session, whatever token there is', async () => {
    const token = await service.managementToken('events:read');
    const response = await fetch(`${service.url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(401);
  });

  test('needs events:read', async () => {
    const { data } = await send(
      { url: service.url, token: await service.managementToken() },
      `mutation { createUser(input: { username: "reader", password: "a long enough phrase" }) {
        ... on CreateUserPayload { user { id } } } }`,
    );
    expect(data).toBeDefined();
    const reader = openConsole(service);
    await signInToConsole(reader, { username: 'reader', password: 'a long enough phrase' });
    expect(await reader.session()).toMatchObject({ scopes: [] });
    expect((await reader.request(path)).status).toBe(403);
  });
});
