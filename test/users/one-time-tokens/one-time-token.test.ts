import { expect, test } from 'vitest';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { redeemToken } from '../../../src/users/one-time-tokens/one-time-token.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { ask, graphql, payload, send } from '../../support/operations/graphql.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { services } = service.app;
const { prisma } = services.database;
const endpoint = { url: service.url, token: await service.managementToken() };

const Create = graphql(`
  mutation CreateOneTimeToken($input: CreateOneTimeTokenInput!) {
    createOneTimeToken(input: $input) {
      __typename
      ... on CreateOneTimeTokenPayload { oneTimeToken { id email context expiresAt } token }
      ... on Error { code }
    }
  }
`);
const create = async (input: object) =>
  payload(
    (await ask(endpoint, Create, { input: { email: 'Ada@example.com', ...input } }))
      .createOneTimeToken,
    'CreateOneTimeTokenPayload',
  );
const redeem = (token: string, email = 'ada@EXAMPLE.com') =>
  quietTransaction(services.database, (tx) => redeemToken(tx, services, { email, token }));

test('is shown once, stored as digest, valid ten minutes', async () => {
  const { oneTimeToken, token } = await create({ context: { invite: 7 } });
  expect(oneTimeToken).toMatchObject({
    id: expect.stringMatching(/^ott_/),
    email: 'Ada@example.com',
    context: { invite: 7 },
  });
  const lifetime = new Date(oneTimeToken.expiresAt).getTime() - service.clock.now().getTime();
  expect(Math.round(lifetime / 60_000)).toBe(10);
  expect(
    JSON.stringify(await prisma.$queryRaw`SELECT t::text FROM "OneTimeToken" t`),
  ).not.toContain(token);
  expect(JSON.stringify(service.logged)).not.toContain(token);
});

test('only one of twenty concurrent uses succeeds', async () => {
  const { oneTimeToken, token } = await create({ context: { invite: 8 } });
  const redeemed = await Promise.all(Array.from({ length: 20 }, () => redeem(token)));
  expect(redeemed.filter((found) => found !== null)).toMatchObject([
    { id: oneTimeToken.id, context: { invite: 8 } },
  ]);
  expect(await redeem(token)).toBeNull();
});

test('is not used up by a wrong address or rollback', async () => {
  const { token } = await create({});
  expect(await redeem(token, 'eve@example.com')).toBeNull();
  expect(await redeem(token, 'ada@example.com\0')).toBeNull();
  expect(await redeem(`${token}x`)).toBeNull();
  const undone = quietTransaction(services.database, async (tx) => {
    await redeemToken(tx, services, { email: 'ada@example.com', token });
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await redeem(token)).not.toBeNull();
});

test('expires', async () => {
  const { token } = await create({ expiresInSeconds: 5 });
  service.clock.advance(5_000);
  expect(await redeem(token)).toBeNull();
});

test('is refused for a user with more rights', async () => {
  const directory = seedDirectory(services.database, service.clock);
  const admin = await directory.createUser({ primaryEmail: 'admin@example.com' });
  const resource = await prisma.resource.findUniqueOrThrow({
    where: { indicator: 'urn:signet:management' },
  });
  await directory.allowUser(admin, resource, ['all']);
  const token = await service.managementToken('users:write');
  const input = { email: 'ADMIN@example.com' };
  const { data } = await send({ url: service.url, token }, Create, { input });
  expect(data?.createOneTimeToken).toMatchObject({ code: 'NOT_ALLOWED' });
  expect(await prisma.oneTimeToken.count({ where: { email: input.email } })).toBe(0);
});
