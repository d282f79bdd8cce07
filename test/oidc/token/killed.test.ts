import { expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { fetchManagementToken } from '../../support/client-credentials.ts';
import { createProcessDatabase } from '../../support/database.ts';
import { callRest } from '../../support/operations/rest.ts';
import { startProcess } from '../../support/process.ts';
import { exchange } from '../../support/tokens.ts';

const database = await createProcessDatabase();

const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };

async function start() {
  const { child, ready, ended } = startProcess({
    ...database,
    SIGNET_SECRET: 'a secret for tests only, and a long one',
    ADMIN_CLIENT_ID: admin.id,
    ADMIN_CLIENT_SECRET: admin.secret,
  });
  const url = await ready;
  const token = await fetchManagementToken({ url }, admin);
  const post = async (path: string, body: object) => {
    const answer = await callRest({ url, token }, 'POST', path, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  };
  return { url, child, ended, post };
}

test('no subject token is good twice after a kill', async () => {
  const first = await start();
  const { resource } = await first.post('/resources', {
    name: 'Orders',
    indicator: 'https://orders.example.com',
  });
  const { application, secret } = await first.post('/applications', {
    name: 'Support',
    type: 'MACHINE_TO_MACHINE',
    allowTokenExchange: true,
    allowImpersonation: true,
  });
  const { user } = await first.post('/users', { username: 'ada' });
  const tokens: string[] = [];
  for (let i = 0; i < 40; i += 1) {
    const { token } = await first.post(`/users/${user.id}/subject-tokens`, { reason: 'A ticket' });
    tokens.push(token);
  }
  const redeem = (url: string, token: string) =>
    exchange(
      { url },
      { id: application.id, secret },
      {
        subject_token: token,
        subject_token_type: 'urn:signet:params:oauth:token-type:subject_token',
        resource: resource.indicator,
      },
    );

  const granted = new Set<string>();
  const before = tokens.map(async (token) => {
    const { status } = await redeem(first.url, token);
    if (status !== 200) return;
    granted.add(token);
    // Others are under way.
    if (granted.size === 10) first.child.kill('SIGKILL');
  });
  await Promise.allSettled(before);
  expect(await first.ended).toBe('SIGKILL');
  expect(granted.size).toBeGreaterThanOrEqual(10);

  const second = await start();
  const after = await Promise.all(
    tokens.map(async (token) => ({ token, status: (await redeem(second.url, token)).status })),
  );
  for (const { token, status } of after) if (granted.has(token)) expect(status).toBe(400);
  const left = after.filter(({ status }) => status === 200);
  for (const { token } of left) expect((await redeem(second.url, token)).status).toBe(400);
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(0);
});
