import { expect, test } from 'vitest';
import { openBrowser } from '../../../support/people/sign-in.ts';
import { createSignInFixture, refresh } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { services } = service.app;
const { prisma } = services.database;
const dayMs = 24 * 60 * 60 * 1_000;
const scope = 'openid offline_access';

const pass = (days: number) => service.clock.advance(days * dayMs);

const signIn = (browser = openBrowser(services.baseUrl)) =>
  fixture.signIn({ browser, scope, resource: fixture.resource.indicator });

const grants = () =>
  prisma.oidcRecord.findMany({ where: { model: 'Grant' }, orderBy: { expiresAt: 'desc' } });

const daysLeft = (expiresAt: Date | null | undefined) =>
  Math.round(((expiresAt?.getTime() ?? 0) - service.clock.now().getTime()) / dayMs);

test('a use on the same day writes nothing', async () => {
  await prisma.oidcRecord.deleteMany();
  const { refresh_token: token = '' } = await signIn();
  const before = await grants();
  await refresh(service, fixture.client, token);
  expect(await grants()).toEqual(before);
});

test('a session goes on with its grant, which lives as long as its next refresh token', async () => {
  await prisma.oidcRecord.deleteMany();
  const browser = openBrowser(services.baseUrl);
  const { refresh_token: first = '' } = await signIn(browser);
  const [before] = await grants();
  pass(5);
  const { refresh_token: second = '' } = await signIn(browser);
  const [after, ...others] = await grants();
  expect(others).toEqual([]);
  expect(after?.id).toBe(before?.id);
  expect(daysLeft(after?.expiresAt)).toBeGreaterThanOrEqual(45);
  for (const token of [first, second]) await refresh(service, fixture.client, token);
});

test('a grant that was ended does not come back', async () => {
  await prisma.oidcRecord.deleteMany();
  const { refresh_token: token = '' } = await signIn();
  pass(5);
  await prisma.oidcRecord.deleteMany({ where: { model: 'Grant' } });
  await expect(refresh(service, fixture.client, token)).rejects.toMatchObject({
    error: 'invalid_grant',
  });
  expect(await grants()).toEqual([]);
});

test('a grant lives on while its refresh tokens are used, for a year, and no longer than they need it', async () => {
  await prisma.oidcRecord.deleteMany();
  let { refresh_token: token = '' } = await signIn();
  expect(daysLeft((await grants())[0]?.expiresAt)).toBe(45);
  for (let day = 13; day < 365; day += 13) {
    pass(13);
    ({ refresh_token: token = '' } = await refresh(service, fixture.client, token));
    const [grant] = await grants();
    expect(daysLeft(grant?.expiresAt)).toBe(Math.min(45, 365 - day));
    expect(grant?.payload).toMatchObject({ exp: (grant?.expiresAt?.getTime() ?? 0) / 1000 });
  }
  pass(2);
  await expect(refresh(service, fixture.client, token)).rejects.toMatchObject({
    error: 'invalid_grant',
  });
});
