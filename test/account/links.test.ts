import { describe, expect, test } from 'vitest';
import { consentDriver } from '../oidc/consent/driver.ts';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import {
  type AccountClient,
  createAccountFixture,
  endOfLog,
  recordedSince,
} from '../support/people/account.ts';
import { allowPrivate, createIdentityProvider, passThrough } from '../support/people/federation.ts';
import { messagesTo } from '../support/people/messages.ts';
import { expectToLeadOn } from '../support/people/pages/ways-on.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { authorize, password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createAccountFixture(service);
const { newPerson, signInTo, database } = fixture;
const { prisma } = database;
const provider = await startOpenIdProvider(service.clock);
const { issuer, clientId, clientSecret } = provider;
const club = { name: 'Club', kind: 'SOCIAL', issuer, clientId, clientSecret };
const providerId = await createIdentityProvider(service, club);

/** A person in a browser, and their token for the Account API. */
async function person() {
  const browser = openBrowser(service.app.services.baseUrl);
  return { browser, ...(await newPerson({}, { browser })) };
}

const prove = (me: AccountClient) => me.run('verifyViewerPassword', { password });
const required = { __typename: 'VerificationRequiredError' };
const connection = (name: string, fields: string) =>
  `{ viewer { ${name} { totalCount edges { node { ${fields} } } } } }`;
const templates = async (recipient: string | null) =>
  (await messagesTo(service, recipient ?? '')).map(({ template }) => template);

/** Links an identity, as a person does who follows the URL. */
async function link({ me, browser, user }: Awaited<ReturnType<typeof person>>): Promise<string> {
  provider.expect(`subject-of-${user.username}`, { email: 'elsewhere@example.org' });
  const { url } = await me.run('startViewerFederation', { identityProviderId: providerId });
  const done = await browser.open(await passThrough(url));
  expect(done.body).toContain('Club is linked to your account');
  const { body } = await me.query(connection('identities', 'id'));
  return body.data?.['viewer']?.['identities'].edges.at(-1).node.id;
}

describe('an identity', () => {
  test('is linked after a proof, and the person is told', async () => {
    const somebody = await person();
    const { user, me } = somebody;
    const input = { identityProviderId: providerId };
    expect(await me.run('startViewerFederation', input)).toMatchObject(required);
    await prove(me);
    const start = await endOfLog(service);
    const id = await link(somebody);
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'User.Data.Updated',
        actor: { type: 'USER', id: user.id, clientId: fixture.client.id },
        data: { changes: { identities: { from: [], to: [{ id: providerId, name: 'Club' }] } } },
      },
      {
        type: 'User.Credential.Updated',
        actor: { type: 'USER', id: user.id, clientId: fixture.client.id },
        data: { credential: 'IDENTITY', credentialId: id, change: 'ADDED', name: 'Club' },
      },
    ]);
    expect(await templates(user.primaryEmail)).toEqual(['IDENTITY_ADDED']);
    const { body } = await me.query(
      connection('identities', 'id issuer subject email linkedAt provider { id name }'),
    );
    expect(body.data?.['viewer']?.['identities']).toEqual({
      totalCount: 1,
      edges: [
        {
          node: {
            id,
            issuer,
            subject: `subject-of-${user.username}`,
            email: 'elsewhere@example.org',
            linkedAt: expect.any(String),
            provider: { id: providerId, name: 'Club' },
          },
        },
      ],
    });
  });

  test('is not denied by the page that is loaded again', async () => {
    const somebody = await person();
    await prove(somebody.me);
    provider.expect('subject-of-a-reload');
    const { url } = await somebody.me.run('startViewerFederation', {
      identityProviderId: providerId,
    });
    const callback = await passThrough(url);
    expect((await somebody.browser.open(callback)).body).toContain(
      'Club is linked to your account',
    );
    // The first answer may have been lost.
    const again = await somebody.browser.open(callback);
    expect(again.body).not.toContain('Nothing was linked');
    expect(again.body).toContain('Your account shows what is linked to it.');
    expectToLeadOn('the page', again);
  });

  test('needs a provider that exists and is enabled', async () => {
    const { me } = await person();
    await prove(me);
    const run = (identityProviderId: string) =>
      me.run('startViewerFederation', { identityProviderId });
    const disabled = await createIdentityProvider(service, {
      ...club,
      clientId: 'another',
      enabled: false,
    });
    for (const id of ['idp_01h455vb4pex5vsknk084sn02q', disabled])
      expect(await run(id)).toMatchObject({ __typename: 'NotFoundError', id });
    expect(await prisma.federation.count({ where: { identityProviderId: disabled } })).toBe(0);
  });

  test('is removed after a proof, and the person is told', async () => {
    const somebody = await person();
    const { user, me } = somebody;
    await prove(me);
    const id = await link(somebody);
    service.clock.advance(11 * 60_000);
    expect(await me.run('deleteViewerIdentity', { id })).toMatchObject(required);
    await prove(me);
    const start = await endOfLog(service);
    expect(await me.run('deleteViewerIdentity', { id })).toMatchObject({
      __typename: 'DeleteViewerIdentityPayload',
      viewer: { id: user.id },
    });
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'User.Data.Updated',
        actor: { type: 'USER', id: user.id },
        data: { changes: { identities: { from: [{ id: providerId }], to: [] } } },
      },
      { type: 'User.Credential.Updated', data: { credentialId: id, change: 'REMOVED' } },
    ]);
    expect(await templates(user.primaryEmail)).toEqual(['IDENTITY_ADDED', 'IDENTITY_REMOVED']);
    expect(await me.run('deleteViewerIdentity', { id })).toMatchObject({
      __typename: 'NotFoundError',
    });
  });

  test('of another person is not found', async () => {
    const somebody = await person();
    await prove(somebody.me);
    const id = await link(somebody);
    const { me: stranger } = await person();
    await prove(stranger);
    expect(await stranger.run('deleteViewerIdentity', { id })).toMatchObject({
      __typename: 'NotFoundError',
    });
    expect(await prisma.userIdentity.count({ where: { id } })).toBe(1);
  });
});

describe('a grant', () => {
  const { createPair, begin, redeem } = consentDriver(service, fixture);

  test.each([
    [{ origin: 'ADMINISTRATION' }, undefined],
    [{ origin: 'DYNAMIC_REGISTRATION' }, 'Registered itself by this name'],
    [
      { origin: 'METADATA_DOCUMENT', metadataUrl: 'https://agent.example.com:8443/client.json' },
      'Comes from agent.example.com:8443',
    ],
  ] as const)('says where its application comes from: %j', async (values, line) => {
    const { browser, user, me } = await person();
    const client = await fixture.directory.createClient({
      type: 'SPA',
      isThirdParty: true,
      ...values,
    });
    const { id } = await fixture.directory.createGrant(user.id, client.id);
    const lastUsedAt = service.clock.now();
    await prisma.userGrant.update({ where: { id }, data: { lastUsedAt } });
    const { body } = await me.query(
      connection('grants', 'lastUsedAt application { origin metadataUrl }'),
    );
    const { origin, metadataUrl = null } = { metadataUrl: null, ...values };
    expect(body.data?.['viewer']?.['grants'].edges).toEqual([
      { node: { lastUsedAt: lastUsedAt.toISOString(), application: { origin, metadataUrl } } },
    ]);
    const page = await browser.open(`${service.app.services.baseUrl}/account/applications`);
    expect(page.body).toContain('Last used');
    for (const one of ['Registered itself by this name', 'Comes from agent.example.com:8443'])
      expect([one, page.body.includes(one)]).toEqual([one, one === line]);
  });

  test('is listed, and revoked with its tokens, without a proof', async () => {
    const pair = await createPair();
    const { visit, browser, verifier } = await begin(pair, {
      scope: 'openid offline_access read',
      resource: fixture.resource.indicator,
    });
    const tokens = await redeem(pair, await browser.submit(visit, {}), verifier);
    const me = await signInTo(pair.user.username ?? '');
    const read = async () =>
      (await me.query(connection('grants', 'id application { id name } scopes createdAt'))).body
        .data?.['viewer']?.['grants'];
    const grants = await read();
    expect(grants).toEqual({
      totalCount: 1,
      edges: [
        {
          node: {
            id: expect.stringMatching(/^grant_/),
            application: { id: pair.client.id, name: 'Garden Shop' },
            scopes: ['offline_access', 'openid', 'read'],
            createdAt: expect.any(String),
          },
        },
      ],
    });
    const { id } = grants.edges[0].node;
    const { me: stranger } = await person();
    expect(await stranger.run('revokeViewerGrant', { id })).toMatchObject({
      __typename: 'NotFoundError',
    });
    const start = await endOfLog(service);
    expect(await me.run('revokeViewerGrant', { id })).toMatchObject({
      __typename: 'RevokeViewerGrantPayload',
      viewer: { id: pair.user.id },
    });
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'User.Grant.Revoked',
        data: { grantId: id, scopes: ['offline_access', 'openid', 'read'] },
      },
    ]);
    expect(await read()).toEqual({ totalCount: 0, edges: [] });
    const info = await fetch(`${service.url}/oidc/me`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(info.status).toBe(401);
    expect(await me.run('revokeViewerGrant', { id })).toMatchObject({
      __typename: 'NotFoundError',
    });
    const { url } = await authorize(service, pair.client);
    expect((await browser.open(url)).url.pathname).toMatch(/\/consent$/);
  });
});
