import { describe, expect, test } from 'vitest';
import {
  administrator,
  consoleFolder,
  openConsole,
  setUpConsole,
  signInToConsole,
} from '../support/people/console.ts';
import { startService } from '../support/service.ts';

const service = await startService({}, { consoleFolder });
const first = await setUpConsole(service);

test('the first administrator is signed in after the setup', async () => {
  expect(await first.session()).toMatchObject({
    user: { username: administrator.username },
    scopes: ['all'],
  });
  const { status, body } = await first.ask('{ users(first: 5) { edges { node { username } } } }');
  expect(status).toBe(200);
  expect(body.data).toEqual({ users: { edges: [{ node: { username: administrator.username } }] } });
});

describe('a sign-in', () => {
  test('leads by the service’s own pages back to where one was', async () => {
    const browser = openConsole(service);
    const visit = await signInToConsole(browser, administrator, '/console/users?search=a#b');
    expect(visit.url.href).toBe(`${service.app.services.baseUrl}/console/users?search=a#b`);
    expect(await browser.session()).toMatchObject({ scopes: ['all'] });
  });
});
