import { describe, expect, test } from 'vitest';
import { quietTransaction } from '../../src/db/transaction.ts';
import { deleteOwnFactor } from '../../src/factors/delete.ts';
import { systemActor } from '../../src/services.ts';
import { settledEvents } from '../support/events.ts';
import { testCall } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { authenticatorApp } from '../support/people/authenticator-app.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { messagesTo } from '../support/people/messages.ts';
import { createSignInFixture, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const token = await service.managementToken();
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const factors = { factors: ['TOTP', 'BACKUP_CODES'] };
await changeSettings(service, token, factors);

// biome-ignore lint/suspicious/noExplicitAny: each document has a result of its own.
const ask = async (document: string, variables: object, as = token): Promise<any> => {
  const { data, errors } = await send<unknown, object>(
    { url: service.url, token: as },
    document,
    variables,
  );
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
};

const fields = 'id type name createdAt lastUsedAt remaining';
const list = async (id: string) =>
  (
    await ask(
      `query ($id: ID!) { user(id: $id) { factors(first: 10) { totalCount edges { node { ${fields} } } } } }`,
      { id },
    )
  ).user.factors;
const remove = async (userId: string, factorId: string) =>
  (
    await ask(
      `mutation ($input: DeleteUserFactorInput!) { deleteUserFactor(input: $input) {
         __typename ... on Error { code } ... on DeleteUserFactorPayload { userFactor { ${fields} } } } }`,
      { input: { userId, factorId } },
    )
  ).deleteUserFactor;

let count = 0;
/** A person with an authenticator app and backup codes. */
async function createProtected() {
  count += 1;
  const primaryEmail = `person${count}@example.com`;
  const user = await fixture.createUser({ primaryEmail });
  const { send: take } = await startHeadless(service, { clientId: client.id, redirectUri });
  await step(take, 'signInWithPassword', { identifier: primaryEmail, password });
  const { secret } = await step(take, 'enrollTotp');
  const code = authenticatorApp(service.clock, secret).code();
  await step(take, 'confirmTotp', { code, name: 'Phone' });
  await step(take, 'createBackupCodes');
  return { ...user, primaryEmail };
}

test('lists a user’s factors, with the backup codes that are left', async () => {
  const { id } = await createProtected();
  await prisma.$executeRaw`
    DELETE FROM "BackupCode" WHERE ctid IN (SELECT b.ctid FROM "BackupCode" b
      JOIN "UserFactor" f ON f."id" = b."factorId" WHERE f."userId" = ${id} LIMIT 3)`;
  const { totalCount, edges } = await list(id);
  expect(totalCount).toBe(2);
  expect(edges).toMatchObject([
    { node: { type: 'TOTP', name: 'Phone', remaining: null, lastUsedAt: expect.any(String) } },
    { node: { type: 'BACKUP_CODES', name: null, remaining: 7, lastUsedAt: null } },
  ]);
});

test('deletes a lost factor, even where one is required', async () => {
  const person = await createProtected();
  await changeSettings(service, token, { factorPolicy: 'REQUIRED' });
  const [app, codes] = (await list(person.id)).edges.map(
    ({ node }: { node: { id: string } }) => node,
  );
  const before = (await settledEvents(service, token)).length;
  expect(await remove(person.id, codes.id)).toEqual({
    __typename: 'DeleteUserFactorPayload',
    userFactor: codes,
  });
  expect(await remove(person.id, app.id)).toMatchObject({ userFactor: { id: app.id } });
  expect(await remove(person.id, app.id)).toMatchObject({ code: 'NOT_FOUND' });
  expect((await settledEvents(service, token)).slice(before)).toMatchObject([
    {
      name: 'User.Data.Updated',
      actor: { type: 'APPLICATION' },
      data: { changes: { factors: { from: ['TOTP', 'BACKUP_CODES'], to: ['TOTP'] } } },
    },
    { name: 'User.Credential.Updated', data: { credentialId: codes.id, change: 'REMOVED' } },
    { data: { changes: { factors: { from: ['TOTP'], to: [] } } } },
    { name: 'User.Credential.Updated', data: { credentialId: app.id, change: 'REMOVED' } },
  ]);
  const messages = await messagesTo(service, person.primaryEmail);
  expect(messages.map(({ template }) => template)).toEqual([
    'FACTOR_ADDED',
    'FACTOR_ADDED',
    'FACTOR_REMOVED',
    'FACTOR_REMOVED',
  ]);
  await changeSettings(service, token, { factorPolicy: 'OPTIONAL' });
});

test('of another user, a factor is not found and stays', async () => {
  const [one, other] = [await createProtected(), await createProtected()];
  const [factor] = (await list(one.id)).edges;
  expect(await remove(other.id, factor.node.id)).toMatchObject({ code: 'NOT_FOUND' });
  expect((await list(one.id)).totalCount).toBe(2);
});

describe('a person’s own last factor', () => {
  const removeOwn = (userId: string, factorId: string) => {
    const { services } = service.app;
    const context = { ...services, actor: systemActor, ...testCall };
    return quietTransaction(services.database, (tx) =>
      deleteOwnFactor(tx, context, { userId, factorId }),
    );
  };

  test.each(['the settings', 'an organization'])('stays where %s require one', async (by) => {
    const person = await createProtected();
    if (by === 'the settings') await changeSettings(service, token, { factorPolicy: 'REQUIRED' });
    else {
      const organization = await fixture.directory.createOrganization();
      await fixture.directory.addMember(organization, person);
      const { updateOrganization } = await ask(
        `mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) {
           ... on UpdateOrganizationPayload { organization { requiresFactor } } } }`,
        { input: { id: organization.id, requiresFactor: true } },
      );
      expect(updateOrganization).toEqual({ organization: { requiresFactor: true } });
    }
    const [app, codes] = (await list(person.id)).edges;
    await removeOwn(person.id, app.node.id);
    await expect(removeOwn(person.id, codes.node.id)).rejects.toMatchObject({
      code: 'NOT_ALLOWED',
    });
    expect((await list(person.id)).totalCount).toBe(1);
    await changeSettings(service, token, { factorPolicy: 'OPTIONAL' });
  });

  test('goes where none is required', async () => {
    const person = await createProtected();
    for (const { node } of (await list(person.id)).edges) await removeOwn(person.id, node.id);
    expect((await list(person.id)).totalCount).toBe(0);
  });
});

describe('the settings', () => {
  test.each([
    [{ factors: [], factorPolicy: 'REQUIRED' }, 'factors'],
    [{ factorPolicy: 'REQUIRED' }, 'factorPolicy'],
  ])('do not require what nobody can add: %j', async (input, path) => {
    await changeSettings(service, token, { factors: [] });
    const { updateSignInExperience } = await ask(
      `mutation ($input: UpdateSignInExperienceInput!) { updateSignInExperience(input: $input) {
         ... on InvalidInputError { code issues { path } } } }`,
      { input },
    );
    expect(updateSignInExperience).toEqual({ code: 'INVALID_INPUT', issues: [{ path: [path] }] });
    await changeSettings(service, token, factors);
  });
});

test('an organization’s requirement is in its events', async () => {
  const before = (await settledEvents(service, token)).length;
  const { createOrganization } = await ask(
    `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) {
       ... on CreateOrganizationPayload { organization { id requiresFactor } } } }`,
    { input: { name: 'Careful', requiresFactor: true } },
  );
  const { id } = createOrganization.organization;
  await ask(
    'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { __typename } }',
    { input: { id, requiresFactor: null } },
  );
  expect((await settledEvents(service, token)).slice(before)).toMatchObject([
    { name: 'Organization.Created', data: { id, requiresFactor: true } },
    { data: { changes: { requiresFactor: { from: true, to: false } } } },
  ]);
});
