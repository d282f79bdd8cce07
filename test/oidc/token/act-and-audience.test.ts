import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import type { ActClaim } from '../../../src/auth/access-token.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { startService } from '../../support/service.ts';
import { exchange, userToken } from '../../support/tokens.ts';

const service = await startService();
const { database } = service.app.services;
const directory = seedDirectory(database, service.clock);
const user = await directory.createUser();
const frontend = await directory.createClient({ type: 'SPA' });
const backend = await directory.createClient({ allowTokenExchange: true });
const orders = await directory.createResource(['read']);
const other = await directory.createResource(['read']);
const ask = async (parameters: Record<string, string | undefined>, client = backend, claims = {}) =>
  exchange(service, client, {
    subject_token: await userToken(service, user.id, frontend, claims),
    ...parameters,
  });
const invalidTarget = { status: 400, body: { error: 'invalid_target' } };

describe('the chain of actors', () => {
  const actors = (count: number) => {
    let act: ActClaim | undefined;
    for (let i = 0; i < count; i += 1) act = { sub: `app_${i}`, ...(act ? { act } : {}) };
    return { act };
  };

  test('grows to eight actors, and no further', async () => {
    let token = await userToken(service, user.id, frontend);
    for (let i = 0; i < 8; i += 1) {
      const { status, body } = await ask({ subject_token: token, resource: orders.indicator });
      expect(status, `exchange ${i + 1}`).toBe(200);
      token = String(body['access_token']);
    }
    expect(JSON.stringify(decodeJwt(token)['act']).match(/"sub"/g)).toHaveLength(8);
    // A `jti` for each, and the application that had the first token.
    expect(decodeJwt(token)['urn:signet:lineage']).toHaveLength(9);
    expect(await ask({ subject_token: token, resource: orders.indicator })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test.each([8, 9, 1035])('is refused after %i actors', async (count) => {
    expect(await ask({ resource: orders.indicator }, backend, actors(count))).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });
});

describe('audience', () => {
  test.each([
    ['beside the same resource', { resource: orders.indicator, audience: orders.indicator }],
    ['in place of the resource', { audience: orders.indicator }],
  ])('names the target %s', async (_what, parameters) => {
    const { status, body } = await ask(parameters);
    expect(status).toBe(200);
    expect(decodeJwt(String(body['access_token'])).aud).toBe(orders.indicator);
  });

  test.each([
    ['another resource', { resource: orders.indicator, audience: other.indicator }],
    ['no resource', { audience: 'https://unknown.example.com' }],
    ['no URI', { audience: 'orders' }],
    ['no URI beside a resource', { resource: orders.indicator, audience: 'orders' }],
  ])('is refused if it names %s', async (_what, parameters) => {
    expect(await ask(parameters)).toMatchObject(invalidTarget);
  });

  test('is checked after client authentication', async () => {
    const parameters = { resource: orders.indicator, audience: 'orders' };
    expect(await ask(parameters, { ...backend, secret: 'wrong' })).toMatchObject({ status: 401 });
  });
});

describe("Signet's own APIs", async () => {
  const own = 'urn:signet:management';
  const account = { indicator: 'urn:signet:account' };
  const administrator = await directory.createUser();
  const management = await database.prisma.resource.findUniqueOrThrow({
    where: { indicator: own },
  });
  await directory.allowUser(administrator, management, ['all']);
  const subject = () => userToken(service, administrator.id, frontend);

  test.each([own, account.indicator])('%s is no target unless it is listed', async (resource) => {
    const narrow = await directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [orders.indicator],
    });
    for (const client of [backend, narrow]) {
      for (const target of [{ resource }, { audience: resource }]) {
        expect(
          await ask({ subject_token: await subject(), ...target, scope: 'all' }, client),
        ).toMatchObject(invalidTarget);
      }
    }
    const listed = await directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [resource],
    });
    expect(await ask({ subject_token: await subject(), resource }, listed)).toMatchObject({
      status: 200,
    });
  });
});
