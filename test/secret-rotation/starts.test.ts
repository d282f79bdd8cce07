import { hkdfSync } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { createSealing } from '../../src/keys/cipher.ts';
import { keptUses } from '../../src/keys/kept-uses.ts';
import { purposeOf } from '../../src/keys/sealed-columns.ts';
import { readSealedValues, writeSealedRows } from '../support/secrets/sealed-rows.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const before = 'the secret of before, for tests only';
const coming = 'the coming secret, for tests only as well';
const third = 'a third secret that nobody else has ever used';
const moved = { SIGNET_SECRET: coming, SIGNET_SECRET_PREVIOUS: before };

let service: TestService;
beforeEach(async () => {
  service = await startService({ SIGNET_SECRET: before });
});

const readiness = async ({ url }: TestService) => (await fetch(`${url}/readyz`)).text();
const isDone = (node: TestService) =>
  eventually(async () => {
    service.clock.advance(16_000);
    expect(await readiness(node)).toBe('ready\nSIGNET_SECRET_PREVIOUS: re-encrypted\n');
  }, 1000);

test('a start with the wrong secrets is refused in one line', async () => {
  await expect(startSecondNode(service, { SIGNET_SECRET: third })).rejects.toThrow(
    /^SIGNET_SECRET is not the one that the keys in this database were encrypted with$/,
  );
  await expect(
    startSecondNode(service, { SIGNET_SECRET: third, SIGNET_SECRET_PREVIOUS: coming }),
  ).rejects.toThrow(
    /^neither SIGNET_SECRET nor SIGNET_SECRET_PREVIOUS is the one that the keys in this database/,
  );

  // While something needs the previous one, and the signing keys do not any more.
  const { cipher, database } = service.app.services;
  await writeSealedRows(service.app.services);
  const half = createSealing(coming, before);
  for (const { id, privateJwk } of await database.prisma.signingKey.findMany()) {
    const purpose = purposeOf('signing-key', id);
    const anew = half.encrypt(cipher.decrypt(privateJwk, purpose), purpose);
    await database.prisma.signingKey.update({ where: { id }, data: { privateJwk: anew } });
  }
  await expect(startSecondNode(service, { SIGNET_SECRET: coming })).rejects.toThrow(
    /^SIGNET_SECRET_PREVIOUS has to be .* \(.*WebhookSecret: 1.*\)$/,
  );
  await service.app.stop();
  const node = await startSecondNode(service, moved);
  await isDone(node);
  await expect(startSecondNode(service, { SIGNET_SECRET: coming })).resolves.toBeDefined();
});

test('a change can be taken back', async () => {
  await writeSealedRows(service.app.services);
  await service.app.stop();
  const node = await startSecondNode(service, moved);
  await isDone(node);
  await node.app.stop();
  const back = await startSecondNode(service, {
    SIGNET_SECRET: before,
    SIGNET_SECRET_PREVIOUS: coming,
  });
  await isDone(back);
  await back.app.stop();
  await expect(startSecondNode(service, { SIGNET_SECRET: before })).resolves.toBeDefined();
});

test('what neither secret opens stays as it is, and is logged', async () => {
  const { database } = service.app.services;
  await writeSealedRows(service.app.services);
  const foreign = createSealing(third).encrypt('of another', purposeOf('message-sender', 'SMS'));
  await database.prisma.messageSender.update({
    where: { channel: 'SMS' },
    data: { secret: foreign },
  });
  // A value of another row does not open here either.
  const [secret] = await database.prisma.webhookSecret.findMany();
  const stolen = service.app.services.cipher.encrypt('stolen', 'webhook-secret:another');
  await database.prisma.webhookSecret.update({
    where: { id: secret?.id ?? '' },
    data: { secret: stolen },
  });
  await service.app.stop();
  const node = await startSecondNode(service, moved);
  await isDone(node);
  const sender = await database.prisma.messageSender.findUnique({ where: { channel: 'SMS' } });
  expect(sender?.secret).toEqual(foreign);
  const kept = await database.prisma.webhookSecret.findMany();
  expect(kept.map((row) => row.secret)).toContainEqual(stolen);
});

test('a database of that version keeps the keys of its digests, and gets the rest at random', async () => {
  const { prisma } = service.app.services.database;
  const random = keptUses.map((use) => service.app.services.cipher.keptKey(use).toString('hex'));
  expect(new Set(random).size).toBe(keptUses.length);
  const derived = (use: string) =>
    Buffer.from(hkdfSync('sha256', before, '', `signet:${use}`, 32)).toString('hex');
  expect(random).not.toContain(derived('backup-code'));

  await prisma.keptKey.deleteMany();
  await prisma.secretUse.deleteMany();
  // The first node lives, with another secret.
  await prisma.node.deleteMany();
  const node = await startSecondNode(service, moved);
  const { cipher } = node.app.services;
  for (const use of keptUses) {
    const key = cipher.keptKey(use).toString('hex');
    if (use === 'device-cookie') expect(key).not.toBe(derived(use));
    else expect(key).toBe(derived(use));
  }
  // That version left no note of its secret, and may have signed cookies with it until now.
  await isDone(node);
});

test('two nodes side by side encrypt many values anew, each once', async () => {
  const { services } = service.app;
  const { prisma } = services.database;
  const userId = (
    await prisma.user.create({
      data: { id: 'user_of_many', createdAt: new Date(), updatedAt: new Date() },
    })
  ).id;
  await prisma.userFactor.createMany({
    data: Array.from({ length: 1_500 }, (_, index) => ({
      ...{ id: `factor_${index}`, userId, type: 'TOTP' as const, createdAt: new Date() },
      secret: services.cipher.encrypt(`secret ${index}`, `totp:factor_${index}`),
    })),
  });
  await service.app.stop();
  const nodes = await Promise.all([
    startSecondNode(service, moved),
    startSecondNode(service, moved),
  ]);
  for (const node of nodes) await isDone(node);
  const alone = createSealing(coming, third);
  const values = (await readSealedValues(services)).filter(({ kind }) => kind === 'totp');
  expect(values).toHaveLength(1_500);
  for (const { owner, sealed } of values)
    expect(alone.decrypt(sealed, `totp:${owner}`)).toBe(`secret ${owner.slice('factor_'.length)}`);
});
