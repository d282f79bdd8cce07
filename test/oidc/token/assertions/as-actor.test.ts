import { describe, expect, test } from 'vitest';
import { accountIndicator, managementIndicator } from '../../../../src/auth/scopes.ts';
import { newId } from '../../../../src/ids.ts';
import { basic } from '../../../support/client-credentials.ts';
import { assertionGrantType, startForeignIssuer } from '../../../support/keys/foreign-issuer.ts';
import { seedDirectory, type TestClient } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { startService } from '../../../support/service.ts';
import {
  accessTokenType,
  exchange,
  formOf,
  postToken,
  userToken,
} from '../../../support/tokens.ts';

// Who acts by a token that an assertion brought: whatever the subject is, the actor's bounds hold too.
const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { database } = service.app.services;
const directory = seedDirectory(database, service.clock);
const make = createMaker(overGraphQL(service, await service.managementToken()));
const company = await startForeignIssuer(service);

const resource = await directory.createResource(['read', 'write']);
const management = await database.prisma.resource.findUniqueOrThrow({
  where: { indicator: managementIndicator },
});
const ada = await directory.createUser();
const bob = await directory.createUser();
for (const one of [ada, bob]) {
  await directory.allowUser(one, resource, ['read', 'write']);
  await directory.allowUser(one, management, ['users:read']);
}
const providerId = await make.identityProvider();
await directory.createIdentity(bob.id, providerId, { issuer: company.issuer, subject: 'bob' });

const own = await directory.createClient({ type: 'TRADITIONAL' });
const shop = await directory.createClient({ type: 'TRADITIONAL', isThirdParty: true });
const pipeline = await directory.createClient();
await directory.allowClient(pipeline, resource, ['read', 'write']);
await directory.allowClient(pipeline, management, ['users:read']);
const trust = (values: object) =>
  make.done('createTrustedIssuer', {
    name: make.next('issuer'),
    issuer: company.issuer,
    jwksUri: company.jwksUri,
    ...values,
  });
for (const { id: applicationId } of [own, shop]) await trust({ kind: 'IDENTITY', applicationId });
await trust({
  kind: 'WORKLOAD',
  applicationId: pipeline.id,
  claimRules: [{ claim: 'repository', equals: 'acme/shop' }],
});
await database.prisma.userGrant.create({
  data: {
    id: newId('UserGrant'),
    userId: bob.id,
    applicationId: shop.id,
    createdAt: service.clock.now(),
  },
});

const settings = {
  allowTokenExchange: true,
  exchangeThirdPartySubjectTokens: true,
  mayActFor: [own.id, shop.id, pipeline.id],
};
const gateway = await directory.createClient({
  ...settings,
  exchangeResources: [accountIndicator, managementIndicator, resource.indicator],
});

const assertedFor = async (client: TestClient) => {
  const isWorkload = client === pipeline;
  const { status, body } = await postToken(
    service,
    formOf({
      grant_type: assertionGrantType,
      assertion: await (isWorkload
        ? company.signWorkload()
        : company.signIdentity('bob', client.id)),
      resource: resource.indicator,
    }),
    isWorkload ? {} : { authorization: basic(client.id, client.secret) },
  );
  expect({ status, body }).toMatchObject({ status: 200 });
  return String(body['access_token']);
};
const actors = {
  signedIn: () => userToken(service, bob.id, own),
  asserted: () => assertedFor(own),
  assertedForThirdParty: () => assertedFor(shop),
  workload: () => assertedFor(pipeline),
};
const swap = (subject_token: string, parameters: Record<string, string>) =>
  exchange(service, gateway, { subject_token, ...parameters });
const passed = async (...of: Parameters<typeof swap>) => {
  const { status, body } = await swap(...of);
  expect({ status, body }).toMatchObject({ status: 200 });
  return String(body['access_token']);
};
const atResource = { resource: resource.indicator, scope: 'read write' };

describe.each([
  ['signedIn', 200],
  ['asserted', 400],
  ['assertedForThirdParty', 400],
  ['workload', 200],
] as const)('an actor who is %s', (who, status) => {
  const acting = async () => ({
    actor_token: await actors[who](),
    actor_token_type: accessTokenType,
  });
  const subject = () => userToken(service, ada.id, own);

  test('may act at other APIs, with what the user holds', async () => {
    const answer = await swap(await subject(), { ...atResource, ...(await acting()) });
    expect(answer).toMatchObject({ status: 200, body: { scope: 'read write' } });
  });

  test.each([
    [managementIndicator, 'users:read'],
    [accountIndicator, ''],
  ])(`for %s: ${status}, at once`, async (indicator, scope) => {
    const asked = { resource: indicator, scope, ...(await acting()) };
    expect(await swap(await subject(), asked)).toMatchObject({
      status,
      body: status === 200 ? { scope } : { error: 'invalid_target' },
    });
  });

  test(`for ${managementIndicator}: ${status}, by a detour`, async () => {
    const near = await passed(await subject(), { ...atResource, ...(await acting()) });
    const far = await passed(near, atResource);
    const asked = { resource: managementIndicator, scope: 'users:read' };
    for (const token of [near, far]) {
      expect(await swap(token, asked)).toMatchObject({ status });
      // As the actor's token, too.
      expect(
        await swap(await subject(), {
          ...asked,
          actor_token: token,
          actor_token_type: accessTokenType,
        }),
      ).toMatchObject({ status });
    }
  });
});
