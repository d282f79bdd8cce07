import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { quietTransaction } from '../../../../src/db/transaction.ts';
import { purgeExpired } from '../../../../src/oidc/provider/storage/expiry.ts';
import { openBrowser } from '../../../support/people/sign-in.ts';
import { createSignInFixture } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { services } = service.app;
const { prisma } = services.database;

const modelsLeft = async () => {
  const groups = await prisma.oidcRecord.groupBy({ by: ['model'], orderBy: { model: 'asc' } });
  return groups.map(({ model }) => model);
};
const purge = () => quietTransaction(services.database, purgeExpired(services));

/** Makes everything older; the database's clock cannot be moved. */
async function age(hours: number) {
  for (const table of ['OidcRecord', 'RevokedToken', 'Session', 'SetupToken', 'AddressCount']) {
    await prisma.$executeRawUnsafe(
      `UPDATE "${table}" SET "expiresAt" = "expiresAt" - interval '${hours} hours'`,
    );
  }
}
const counts = async () => [
  await prisma.revokedToken.count(),
  await prisma.setupToken.count(),
  await prisma.addressCount.count(),
];

test('deletes only expired rows', async () => {
  const { resource } = fixture;
  const tokens = await fixture.signIn({
    browser: openBrowser(services.baseUrl),
    resource: resource.indicator,
    scope: 'openid offline_access read',
  });
  const { jti = '', exp = 0 } = decodeJwt(tokens.access_token);
  await prisma.revokedToken.create({ data: { jti, expiresAt: new Date(exp * 1000) } });
  const before = await modelsLeft();
  await purge();
  expect(await modelsLeft()).toEqual(before);
  expect(await counts()).toEqual([1, 1, 1]);

  await age(2);
  await purge();
  expect(await counts()).toEqual([0, 0, 0]);
  expect(await modelsLeft()).toEqual(['Grant', 'RefreshToken', 'Session']);

  await age(400 * 24);
  // A day's worth at once.
  for (const _model of await modelsLeft()) await purge();
  expect(await modelsLeft()).toEqual([]);
});
