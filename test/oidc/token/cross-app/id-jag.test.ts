import { discoverAndRequestJwtAuthGrant, exchangeJwtAuthGrant } from '@modelcontextprotocol/client';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import { signCompact } from '../../../../src/keys/compact-jws.ts';
import { systemActor } from '../../../../src/services.ts';
import { signOutUser } from '../../../../src/users/sign-out.ts';
import { basic } from '../../../support/client-credentials.ts';
import { assertionGrantType } from '../../../support/keys/foreign-issuer.ts';
import { testCall } from '../../../support/log.ts';
import { seedDirectory } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { createSignInFixture } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';
import { exchangeGrantType, formOf, postToken, userToken } from '../../../support/tokens.ts';
import { eventually } from '../../../support/wait.ts';

// The company's, where people sign in, and that of a chat, whose API the wiki calls for them.
const company = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const chat = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const fixture = await createSignInFixture(company);
const { client: wiki, user } = fixture;
const atCompany = createMaker(overGraphQL(company, await company.managementToken()));
const atChat = createMaker(overGraphQL(chat, await chat.managementToken()));
const companyIssuer = company.app.services.issuer;
const chatIssuer = chat.app.services.issuer;

const chatDirectory = seedDirectory(chat.app.services.database, chat.clock);
const wikiThere = await chatDirectory.createClient({ type: 'TRADITIONAL' });
const messages = await chatDirectory.createResource(['read', 'write']);
const member = await chatDirectory.createUser();
await chatDirectory.allowUser(member, messages, ['read', 'write']);
const identityProviderId = await atChat.identityProvider({ issuer: companyIssuer });
await chatDirectory.createIdentity(member.id, identityProviderId, {
  issuer: companyIssuer,
  subject: user.id,
});
await atChat.done('createTrustedIssuer', {
  name: 'Company',
  issuer: companyIssuer,
  jwksUri: `${company.url}/oidc/jwks`,
  kind: 'IDENTITY',
  applicationId: wikiThere.id,
});
const { crossAppConnection } = await atCompany.done('createCrossAppConnection', {
  applicationId: wiki.id,
  issuer: chatIssuer,
  clientId: wikiThere.id,
  scopes: ['read', 'delete'],
});

const idTokenType = 'urn:ietf:params:oauth:token-type:id_token';
const idJagType = 'urn:ietf:params:oauth:token-type:id-jag';
const signIn = async (client = wiki) =>
  (await fixture.signIn({ client, scope: 'openid' })).id_token as string;
const ask = (parameters: Record<string, string | undefined>, by = wiki) =>
  postToken(
    company,
    formOf({
      grant_type: exchangeGrantType,
      requested_token_type: idJagType,
      subject_token_type: idTokenType,
      audience: chatIssuer,
      scope: 'read write',
      ...parameters,
    }),
    { authorization: basic(by.id, by.secret) },
  );
const present = (assertion: unknown, parameters: Record<string, string> = {}) =>
  postToken(
    chat,
    formOf({ grant_type: assertionGrantType, assertion: String(assertion), ...parameters }),
    { authorization: basic(wikiThere.id, wikiThere.secret) },
  );
const refused = (error: string) => ({ status: 400, body: { error } });

test('an ID token becomes an assertion for the other service, and there a token', async () => {
  const answer = await ask({ subject_token: await signIn(), resource: messages.indicator });
  expect(answer).toMatchObject({
    status: 200,
    body: { issued_token_type: idJagType, token_type: 'N_A', expires_in: 300, scope: 'read' },
  });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const assertion = String(answer.body['access_token']);
  expect(decodeProtectedHeader(assertion).typ).toBe('oauth-id-jag+jwt');
  const { exp = 0, iat = 0, ...claims } = decodeJwt(assertion);
  expect(exp - iat).toBe(300);
  expect(claims).toMatchObject({
    iss: companyIssuer,
    sub: user.id,
    aud: chatIssuer,
    client_id: wikiThere.id,
    resource: messages.indicator,
    scope: 'read',
    jti: expect.any(String),
  });
  const there = await present(assertion);
  expect(there).toMatchObject({ status: 200, body: { token_type: 'Bearer', scope: 'read' } });
  expect(decodeJwt(String(there.body['access_token']))).toMatchObject({
    iss: chatIssuer,
    sub: member.id,
    aud: messages.indicator,
    client_id: wikiThere.id,
  });
  // Once.
  expect(await present(assertion)).toMatchObject(refused('invalid_grant'));
});

test('the MCP client goes that way by itself', async () => {
  const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
    idpUrl: companyIssuer,
    audience: chatIssuer,
    resource: messages.indicator,
    idToken: await signIn(),
    clientId: wiki.id,
    clientSecret: wiki.secret,
    scope: 'read',
    fetchFn: (url, init) => fetch(String(url).replace(companyIssuer, `${company.url}/oidc`), init),
  });
  const tokens = await exchangeJwtAuthGrant({
    tokenEndpoint: `${chat.url}/oidc/token`,
    jwtAuthGrant,
    clientId: wikiThere.id,
    clientSecret: wikiThere.secret,
  });
  expect(decodeJwt(tokens.access_token)).toMatchObject({ sub: member.id, scope: 'read' });
});

describe('an identity assertion', () => {
  test('is given along a connection alone', async () => {
    const subject_token = await signIn();
    const elsewhere = { subject_token, audience: 'https://elsewhere.example.com' };
    expect(await ask(elsewhere)).toMatchObject(refused('invalid_target'));
    expect(await ask({ subject_token, audience: undefined })).toMatchObject(
      refused('invalid_request'),
    );
    const other = await fixture.createApplication();
    const own = await signIn(other);
    expect(await ask({ subject_token: own }, other)).toMatchObject(refused('invalid_target'));
  });

  test('is given for an ID token of the client alone', async () => {
    const other = await fixture.createApplication();
    const { access_token } = await fixture.signIn({ scope: 'openid' });
    const idJag = (await ask({ subject_token: await signIn() })).body['access_token'];
    for (const subject_token of [
      await signIn(other),
      access_token,
      await userToken(company, user.id, wiki),
      String(idJag),
      `${await signIn()}x`,
      'x',
    ])
      expect(await ask({ subject_token })).toMatchObject(refused('invalid_request'));
    const subject_token = await signIn();
    const subject_token_type = 'urn:ietf:params:oauth:token-type:access_token';
    expect(await ask({ subject_token, subject_token_type })).toMatchObject(
      refused('invalid_request'),
    );
    expect(await ask({ subject_token, actor_token: subject_token })).toMatchObject(
      refused('invalid_request'),
    );
    expect(await ask({ subject_token }, { ...wiki, secret: 'wrong' })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
  });

  test('is refused for an ID token that was made with an access token’s type, or for several', async () => {
    const { algorithm, kid, privateKey } = company.app.services.keys.current();
    const now = Math.floor(company.clock.now().getTime() / 1000);
    const usual = { iss: companyIssuer, sub: user.id, aud: wiki.id, iat: now, exp: now + 60 };
    const sign = (claims: object, header: object = {}) =>
      signCompact(
        { algorithm, key: privateKey },
        { alg: algorithm, kid, ...header },
        {
          ...usual,
          ...claims,
        },
      );
    expect(await ask({ subject_token: await sign({}) })).toMatchObject({ status: 200 });
    for (const subject_token of [
      await sign({}, { typ: 'at+jwt' }),
      await sign({ aud: [wiki.id, 'https://api.example.com'] }),
      await sign({ azp: 'app_01h455vb4pex5vsknk084sn02q' }),
      await sign({ exp: now - 1 }),
      await sign({ iss: chatIssuer }),
      await sign({ iat: undefined }),
    ])
      expect(await ask({ subject_token })).toMatchObject(refused('invalid_request'));
  });

  test('is refused once the user is signed out', async () => {
    const subject_token = await signIn();
    const context = { ...company.app.services, actor: systemActor, ...testCall };
    await signOutUser(context, { id: user.id });
    expect(await ask({ subject_token })).toMatchObject(refused('invalid_request'));
    // A sign-in of the same second may have come before.
    await eventually(
      async () =>
        expect(await ask({ subject_token: await signIn() })).toMatchObject({ status: 200 }),
      250,
    );
  });

  test('names the scopes of the connection, or none', async () => {
    const subject_token = await signIn();
    const { body } = await ask({ subject_token, scope: undefined });
    expect(body).toMatchObject({ scope: '' });
    const resource = messages.indicator;
    expect(await present(body['access_token'], { resource, scope: 'read' })).toMatchObject({
      status: 200,
      body: { scope: '' },
    });
    const { id } = crossAppConnection;
    await atCompany.done('updateCrossAppConnection', { id, scopes: ['write'] });
    expect(await ask({ subject_token })).toMatchObject({ body: { scope: 'write' } });
    await atCompany.done('deleteCrossAppConnection', { id });
    expect(await ask({ subject_token })).toMatchObject(refused('invalid_target'));
  });
});

test('a connection leads elsewhere, from an application that authenticates and is the operator’s', async () => {
  const input = { issuer: 'https://chat.example.com', clientId: 'wiki', applicationId: wiki.id };
  const { done } = atCompany;
  const create = (values: object) => done('createCrossAppConnection', { ...input, ...values });
  await expect(create({ issuer: companyIssuer })).rejects.toThrow(/INVALID_INPUT/);
  const spa = await fixture.createApplication({ type: 'SPA' });
  const stranger = await fixture.createApplication({ isThirdParty: true });
  for (const { id } of [spa, stranger])
    await expect(create({ applicationId: id })).rejects.toThrow(/NOT_ALLOWED/);
  await create({});
  await expect(create({})).rejects.toThrow(/CONFLICT/);
});
