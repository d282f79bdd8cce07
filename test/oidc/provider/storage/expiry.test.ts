import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { deleteExpired } from '../../../../src/oidc/provider/storage/expiry.ts';
import { openBrowser } from '../../../support/people/sign-in.ts';
import { createSignInFixture } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { prisma } = service.app.services.database;

const modelsLeft = async () => {
  const groups = await prisma.oidcRecord.groupBy({ by: ['model'], orderBy: { model: 'asc' } });
  return groups.map(({ model }) => model);
};

test('deletes only expired rows', async () => {
  const { resource } = fixture;
  const tokens = await fixture.signIn({
    browser: openBrowser(service.app.services.baseUrl),
    resource: resource.indicator,
    scope: 'openid offline_access read',
  });
  const { jti = '', exp = 0 } = decodeJwt(tokens.access_token);
  await prisma.revokedToken.create({ data: { jti, expiresAt: new Date(exp * 1000) } });
  expect(await deleteExpired(service.app.services)).toBe(0);

  service.clock.advance(2 * 60 * 60 * 1000);
  // With the count of requests from this address, and the link of the console's setup.
  expect(await deleteExpired(service.app.services)).toBe(4);
  expect(await prisma.revokedToken.count()).toBe(0);
  expect(await modelsLeft()).toEqual(['Grant', 'RefreshToken', 'Session']);

  service.clock.advance(400 * 24 * 60 * 60 * 1000);
  await deleteExpired(service.app.services);
  expect(await modelsLeft()).toEqual([]);
});
