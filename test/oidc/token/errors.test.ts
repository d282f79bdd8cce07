import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { newJti } from '../../../src/auth/access-token.ts';
import { basic } from '../../support/client-credentials.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { startService } from '../../support/service.ts';
import {
  accessTokenType,
  exchange,
  exchangeGrantType,
  formOf,
  postToken,
  strangerId,
  type TokenAnswer,
  userClaims,
  userToken,
} from '../../support/tokens.ts';

const service = await startService();
const { issuer, keys, database } = service.app.services;
const { prisma } = database;
const directory = seedDirectory(database, service.clock);

const frontend = await directory.createClient({ type: 'SPA' });
const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
const authorization = basic(backend.id, backend.secret);
const orders = await directory.createResource(['read']);
const user = await directory.createUser();
await directory.allowUser(user, orders, ['read']);
const subjectToken = await userToken(service, user.id, frontend, { exp: 4_000_000_000 });

/** The parameters of an exchange that is granted. */
const good = {
  grant_type: exchangeGrantType,
  subject_token: subjectToken,
  subject_token_type: accessTokenType,
  resource: orders.indicator,
  scope: 'read',
};

const goodForm = (changes: Record<string, string | undefined> = {}) =>
  formOf({ ...good, ...changes });

function expectRefusal(answer: TokenAnswer, status: number, error: string) {
  expect(answer).toMatchObject({ status, body: { error, error_description: expect.any(String) } });
  expect(Object.keys(answer.body).toSorted()).toEqual(['error', 'error_description']);
  // RFC 6749 §5.2 says which characters a description may have.
  expect(answer.body['error_description']).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('pragma')).toBe('no-cache');
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
}

/** Sends the exchange with changed parameters by a client that is known. */
const ask = (changes: Record<string, string | undefined> = {}) =>
  postToken(service, goodForm(changes), { authorization });

test('grants the request that other tests modify', async () => {
  expect(await ask()).toMatchObject({ status: 200, body: { scope: 'read' } });
});

describe('invalid_request, of the form', () => {
  const invalid = (answer: TokenAnswer) => expectRefusal(answer, 400, 'invalid_request');

  test.each([
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded-not',
    'x',
    ';',
    'application/',
    '*/*',
    '%00',
  ])('the media type %s', async (type) => {
    invalid(
      await postToken(service, goodForm().toString(), { authorization, 'content-type': type }),
    );
  });

  test('a media type with parameters is accepted', async () => {
    for (const type of [
      'application/x-www-form-urlencoded; charset=utf-8',
      'Application/X-WWW-Form-Urlencoded ;charset="UTF-8"',
    ]) {
      const answer = await postToken(service, goodForm().toString(), {
        authorization,
        'content-type': type,
      });
      expect(answer.status).toBe(200);
    }
  });

  test('no body, an empty one, one that is JSON', async () => {
    const response = await fetch(`${service.url}/oidc/token`, {
      method: 'POST',
      headers: { authorization },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
    for (const body of ['', '&&&', '=', '{"grant_type":"client_credentials"}']) {
      invalid(await postToken(service, body, { authorization }));
    }
  });

  test('text that is no percent-encoded UTF-8', async () => {
    for (const broken of ['x=%', 'x=%zz', 'x=%ff', '%c3=x']) {
      invalid(await postToken(service, `${goodForm()}&${broken}`, { authorization }));
    }
    const bytes = Buffer.concat([Buffer.from(`${goodForm()}&x=`), Buffer.from([0xff, 0xfe])]);
    invalid(await postToken(service, new Uint8Array(bytes), { authorization }));
  });

  test.each(['grant_type', 'subject_token', 'subject_token_type', 'resource'])(
    'no %s, or one without a value',
    async (name) => {
      invalid(await ask({ [name]: undefined }));
      invalid(await ask({ [name]: '' }));
    },
  );

  test.each([
    'grant_type',
    'subject_token',
    'subject_token_type',
    'requested_token_type',
    'scope',
    'organization_id',
    'client_id',
    'client_secret',
    'audience',
    'something_else',
    '__proto__',
  ])('%s twice', async (name) => {
    invalid(
      await postToken(service, `${goodForm({ [name]: undefined })}&${name}=a&${name}=a`, {
        authorization,
      }),
    );
  });

  test('a repeated parameter, also differently encoded or empty', async () => {
    invalid(await postToken(service, `${goodForm()}&%73cope=read`, { authorization }));
    invalid(await postToken(service, `${goodForm()}&scope`, { authorization }));
  });

  test('both methods of client authentication at once', async () => {
    invalid(await ask({ client_id: backend.id, client_secret: backend.secret }));
    invalid(await ask({ client_secret: backend.secret }));
  });

  test('a client_id other than the Authorization header’s', async () => {
    invalid(await ask({ client_id: frontend.id }));
    expect(await ask({ client_id: backend.id })).toMatchObject({ status: 200 });
  });
});

describe('invalid_request with 413', () => {
  const sized = (length: number) => {
    const form = `${goodForm()}&filler=`;
    return form + 'x'.repeat(length - form.length);
  };

  test('only a body of more than 64 KiB', async () => {
    expect(await postToken(service, sized(64 * 1024), { authorization })).toMatchObject({
      status: 200,
    });
    expectRefusal(
      await postToken(service, sized(64 * 1024 + 1), { authorization }),
      413,
      'invalid_request',
    );
  });

  test('a subject token of 100 KB', async () => {
    expectRefusal(await ask({ subject_token: 'a'.repeat(100_000) }), 413, 'invalid_request');
  });

  test('a body of unknown length', async () => {
    const { status, error } = await new Promise<{ status?: number; error: unknown }>(
      (resolve, reject) => {
        const sending = httpRequest(
          `${service.url}/oidc/token`,
          {
            method: 'POST',
            headers: {
              'content-type': 'application/x-www-form-urlencoded',
              'transfer-encoding': 'chunked',
            },
          },
          async (response) => {
            const chunks = await response.toArray();
            const { error } = JSON.parse(Buffer.concat(chunks).toString()) as { error: unknown };
            resolve({ status: response.statusCode, error });
          },
        );
        sending.on('error', reject);
        sending.end('x'.repeat(64 * 1024 + 1));
      },
    );
    expect({ status, error }).toEqual({ status: 413, error: 'invalid_request' });
  });
});

describe('invalid_client', async () => {
  const past = new Date(service.clock.now().getTime() - 1000);
  const expired = await directory.createClient({ allowTokenExchange: true }, { expiresAt: past });
  const without = await directory.createClient({ allowTokenExchange: true });
  await prisma.applicationSecret.deleteMany({ where: { applicationId: without.id } });

  test('is one answer for every reason, with a challenge', async () => {
    const unknownId = 'app_01h455vb4pex5vsknk084sn02q';
    const basics = {
      'an unknown client': basic(unknownId, backend.secret),
      'a wrong secret': basic(backend.id, 'wrong'),
      "another's secret": basic(backend.id, without.secret),
      'an expired secret': basic(expired.id, expired.secret),
      'a deleted secret': basic(without.id, without.secret),
      'no secret': basic(backend.id, ''),
      'no client': basic('', backend.secret),
      'an id that is none': basic('a\0b', backend.secret),
      'the id of a user': basic(user.id, backend.secret),
      'no colon': `Basic ${Buffer.from('nothing').toString('base64')}`,
      'no base64': 'Basic @@@@',
      'base64 that stops': 'Basic YQ',
      nothing: 'Basic',
      'percent signs that encode nothing': `Basic ${Buffer.from(`${backend.id}:%zz`).toString('base64')}`,
      'bytes that are no UTF-8': `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`,
      'another scheme': `Bearer ${subjectToken}`,
      'a scheme that begins alike': authorization.replace('Basic', 'Basics'),
      'no scheme': authorization.replace('Basic ', ''),
    };
    const answers = [
      await postToken(service, goodForm()),
      await postToken(service, goodForm({ client_id: backend.id })),
      await postToken(service, goodForm({ client_secret: backend.secret })),
      await postToken(service, goodForm({ client_id: backend.id, client_secret: 'wrong' })),
      await postToken(service, goodForm({ client_id: backend.id, client_secret: 'a\0b' })),
      await postToken(service, goodForm({ client_id: unknownId, client_secret: backend.secret })),
    ];
    for (const header of Object.values(basics)) {
      answers.push(await postToken(service, goodForm(), { authorization: header }));
    }
    for (const answer of answers) {
      expectRefusal(answer, 401, 'invalid_client');
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
      expect(answer.body).toEqual(answers[0]?.body);
      expect([...answer.headers.keys()]).toEqual([...(answers[0]?.headers.keys() ?? [])]);
    }
  });

  test('comes before all faults except those of the form', async () => {
    for (const changes of [
      { subject_token: 'x' },
      { subject_token_type: 'x' },
      { resource: 'x' },
      { scope: '"' },
      { organization_id: 'x' },
    ]) {
      expectRefusal(
        await postToken(service, goodForm(changes), { authorization: basic(backend.id, 'wrong') }),
        401,
        'invalid_client',
      );
    }
  });

  test('an expired secret is refused, another one accepted', async () => {
    const client = await directory.createClient({ allowTokenExchange: true });
    const expiresAt = new Date(service.clock.now().getTime() + 60_000);
    const second = await directory.createSecret(client.id, { expiresAt });
    const withSecret = (secret: string) =>
      postToken(service, goodForm(), { authorization: basic(client.id, secret) });
    expect(await withSecret(second)).toMatchObject({ status: 200 });
    service.clock.advance(60_000);
    expectRefusal(await withSecret(second), 401, 'invalid_client');
    expect(await withSecret(client.secret)).toMatchObject({ status: 200 });
  });

  test('form-encoded credentials are accepted', async () => {
    const value = 'a:b c+d%e&f=ü and the rest of it';
    const client = await directory.createClient({ allowTokenExchange: true }, { value });
    const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
    const pairs = [
      `${client.id}:${encodeURIComponent(value)}`,
      `${client.id}:${encode(value)}`,
      `${client.id.replace('_', '%5F')}:${encode(value)}`,
    ];
    for (const pair of pairs) {
      for (const scheme of ['Basic', 'basic', 'BASIC']) {
        const header = `${scheme} ${Buffer.from(pair).toString('base64')}`;
        expect(await postToken(service, goodForm(), { authorization: header })).toMatchObject({
          status: 200,
        });
      }
    }
  });
});

describe('unauthorized_client', async () => {
  const machine = await directory.createClient();

  test.each([
    ['authorization_code', backend, { code: 'x', redirect_uri: 'https://x.example.com' }],
    ['authorization_code', machine, { code: 'x', redirect_uri: 'https://x.example.com' }],
    ['refresh_token', machine, { refresh_token: 'x' }],
  ])('%s, for an application that may not use it', async (grant_type, client, parameters) => {
    const form = formOf({ grant_type, ...parameters });
    const answer = await postToken(service, form, {
      authorization: basic(client.id, client.secret),
    });
    expect(answer).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('comes after the client has authenticated', async () => {
    const answer = await postToken(service, 'grant_type=refresh_token&refresh_token=x', {
      authorization: basic(machine.id, 'wrong'),
    });
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });
});

describe('405', () => {
  const paths = ['token', 'token/introspection', 'token/revocation', 'request', 'device/auth'];
  const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'];

  test.each(paths)('for another method at /oidc/%s', async (path) => {
    for (const method of methods) {
      const response = await fetch(`${issuer}/${path}`, {
        method,
        headers: { accept: 'text/html', 'content-type': 'application/json' },
        ...(method === 'PUT' ? { body: '{}' } : {}),
      });
      expect([method, response.status]).toEqual([method, 405]);
      expect(response.headers.get('allow')).toBe('POST, OPTIONS');
      expect(response.headers.get('cache-control')).toBe('no-store');
      if (method === 'HEAD') continue;
      expect(await response.json()).toEqual({
        error: 'invalid_request',
        error_description: 'this path takes POST',
      });
    }
  });
});

describe('unsupported_grant_type', () => {
  test.each(['password', 'implicit', 'token-exchange', 'client_credentials ', 'a\0b', '__proto__'])(
    'for %j',
    async (grantType) => {
      expectRefusal(await ask({ grant_type: grantType }), 400, 'unsupported_grant_type');
    },
  );
});

describe('invalid_request, of the token types', () => {
  const invalid = async (changes: Record<string, string>) =>
    expectRefusal(await ask(changes), 400, 'invalid_request');

  test.each([
    'urn:ietf:params:oauth:token-type:jwt',
    'urn:ietf:params:oauth:token-type:id_token',
    'urn:ietf:params:oauth:token-type:refresh_token',
    'access_token',
    'a\0b',
  ])('%j', async (type) => {
    await invalid({ subject_token_type: type });
    await invalid({ requested_token_type: type });
  });

  test('an actor token of another application', async () => {
    await invalid({ actor_token: subjectToken, actor_token_type: accessTokenType });
  });
});

describe('invalid_request, of the subject token', async () => {
  const ours = keys.current();
  const { privateKey: forged } = await generateKeyPair('ES256');
  const claims = (changes: Record<string, unknown> = {}) => ({
    ...userClaims(service, user.id, frontend),
    ...changes,
  });
  const sign = (
    payload: Record<string, unknown>,
    header: Record<string, unknown> = {},
    key: Parameters<SignJWT['sign']>[0] = ours.privateKey,
  ) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: ours.algorithm, typ: 'at+jwt', kid: ours.kid, ...header })
      .sign(key);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [header = '', payload = '', signature = ''] = subjectToken.split('.');
  const now = () => Math.floor(service.clock.now().getTime() / 1000);

  const refused = async (token: string, description?: string) => {
    const answer = await ask({ subject_token: token });
    expectRefusal(answer, 400, 'invalid_request');
    const told = answer.body['error_description'] as string;
    expect(told).not.toContain(user.id);
    if (description) expect(told).toBe(`subject_token is refused: ${description}`);
  };

  test('the token that other tests modify is accepted', async () => {
    expect(await ask({ subject_token: await sign(claims()) })).toMatchObject({ status: 200 });
  });

  test.each([
    ['one word', 'token'],
    ['dots', '...'],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${subjectToken}.x`],
    ['no header', `.${payload}.${signature}`],
    ['a header that is no JSON', `YQ.${payload}.${signature}`],
    ['a header that is null', `${encode(null)}.${payload}.${signature}`],
    ['a payload that is a list', `${header}.${encode([])}.${signature}`],
    ['a NUL character', `${header}.\0.${signature}`],
    ['five parts', 'a.b.c.d.e'],
    ['characters beyond ASCII', `${header}.ü.${signature}`],
    ['two of them', `${subjectToken} ${subjectToken}`],
    ['60,000 characters', `${header}.${'a'.repeat(60_000)}.${signature}`],
    [
      'a payload of 10,000 brackets',
      `${header}.${Buffer.from('['.repeat(10_000)).toString('base64url')}.${signature}`,
    ],
  ])('malformed: %s', async (_what, token) => {
    await refused(token);
  });

  test.each([1, 10, 40, 86])('cut short by %i characters', async (length) => {
    await refused(subjectToken.slice(0, -length));
  });

  test('forged: signed with another key under our kid', async () => {
    await refused(await sign(claims(), {}, forged), 'invalid signature');
  });

  test('forged: an unknown kid, or none', async () => {
    await refused(await sign(claims(), { kid: 'key_01h455vb4pex5vsknk084sn02q' }, forged));
    await refused(await sign(claims(), { kid: undefined }));
    await refused(await sign(claims(), { kid: '../../dev/null' }));
  });

  test('forged: a payload or header changed after signing', async () => {
    await refused(`${header}.${encode({ ...claims(), sub: strangerId() })}.${signature}`);
    await refused(
      `${encode({ alg: ours.algorithm, typ: 'at+jwt', kid: ours.kid, x: 1 })}.${payload}.${signature}`,
    );
  });

  test('forged: alg none', async () => {
    for (const alg of ['none', 'None', 'NONE', '']) {
      const unsigned = `${encode({ alg, typ: 'at+jwt', kid: ours.kid })}.${encode(claims())}.`;
      await refused(unsigned);
      await refused(unsigned + signature);
    }
  });

  test('forged: the public key as an HMAC secret', async () => {
    const [jwk] = keys.jwks().keys;
    const publicKey = (await importJWK({ ...jwk, ext: true }, ours.algorithm)) as Parameters<
      typeof exportSPKI
    >[0];
    for (const text of [await exportSPKI(publicKey), JSON.stringify(jwk)]) {
      await refused(await sign(claims(), { alg: 'HS256' }, Buffer.from(text)));
    }
  });

  test('forged: a key that the header brings', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const { exportJWK } = await import('jose');
    await refused(await sign(claims(), { jwk: await exportJWK(publicKey) }, privateKey));
    await refused(await sign(claims(), { jku: 'https://evil.example.com/jwks' }, privateKey));
  });

  test('an unknown critical header', async () => {
    const crit = `${encode({ alg: ours.algorithm, typ: 'at+jwt', kid: ours.kid, crit: ['x'], x: 1 })}`;
    await refused(`${crit}.${payload}.${signature}`);
  });

  test('of another issuer', async () => {
    await refused(await sign(claims({ iss: 'https://evil.example.com/oidc' })), 'unknown issuer');
    await refused(await sign(claims({ iss: `${issuer}/` })), 'unknown issuer');
  });

  test('expired', async () => {
    await refused(await sign(claims({ exp: now() - 1 })), 'token expired');
    const token = await sign(claims({ exp: now() + 120 }));
    expect(await ask({ subject_token: token })).toMatchObject({ status: 200 });
    service.clock.advance(120_000);
    await refused(token, 'token expired');
  });

  test('not valid yet', async () => {
    await refused(await sign(claims({ nbf: now() + 3600 })), 'token not yet valid');
  });

  test.each(['JWT', 'jwt', 'logout+jwt', undefined])('of the type %s', async (typ) => {
    await refused(await sign(claims(), { typ }), 'not an access token');
  });

  test('an ID token', async () => {
    const idToken = await sign(
      { iss: issuer, sub: user.id, aud: frontend.id, iat: now(), exp: now() + 60, nonce: 'n' },
      { typ: 'JWT' },
    );
    await refused(idToken, 'not an access token');
  });

  test('a refresh token, which is no JWT', async () => {
    await refused('kT8cAaB3vSxsJfIhnBLDVgC0JMnLvyfXuZ8UW2sAqzE');
  });

  test.each(['sub', 'aud', 'client_id', 'iat', 'exp', 'jti'])(
    'without %s, or with one of another type',
    async (claim) => {
      await refused(await sign(claims({ [claim]: undefined })));
      await refused(await sign(claims({ [claim]: '' })));
      await refused(await sign(claims({ [claim]: { toString: 'x' } })));
    },
  );

  test('of several audiences', async () => {
    await refused(await sign(claims({ aud: [orders.indicator, 'https://other.example.com'] })));
  });

  test('of a machine-to-machine client, which has no user', async () => {
    await refused(
      await sign(claims({ sub: backend.id, client_id: backend.id })),
      'not a token of a user',
    );
    await refused(await sign(claims({ sub: 'org_01h455vb4pex5vsknk084sn02q' })));
    await refused(await sign(claims({ sub: 'a\0b' })));
  });

  test('of an unknown or deleted user', async () => {
    await refused(await sign(claims({ sub: strangerId() })), 'token of an inactive user');
    const leaving = await directory.createUser();
    const token = await userToken(service, leaving.id, frontend);
    expect(await ask({ subject_token: token })).toMatchObject({ status: 200 });
    await prisma.user.delete({ where: { id: leaving.id } });
    await refused(token, 'token of an inactive user');
  });

  test('of a user who is suspended', async () => {
    const suspended = await directory.createUser();
    const token = await userToken(service, suspended.id, frontend);
    expect(await ask({ subject_token: token })).toMatchObject({ status: 200 });
    await prisma.user.update({ where: { id: suspended.id }, data: { isSuspended: true } });
    await refused(token, 'token of an inactive user');
  });

  test('older than a forced sign-out, with its exchanged tokens', async () => {
    const someone = await directory.createUser();
    const token = await userToken(service, someone.id, frontend);
    service.clock.advance(1000);
    const exchanged = await ask({ subject_token: token });
    await prisma.user.update({
      where: { id: someone.id },
      data: { tokensValidAfter: service.clock.now() },
    });
    await refused(token, 'token no longer valid');
    await refused(exchanged.body['access_token'] as string, 'token no longer valid');
    service.clock.advance(1);
    const later = await userToken(service, someone.id, frontend);
    expect(await ask({ subject_token: later })).toMatchObject({ status: 200 });
  });

  test('issued to a deleted application', async () => {
    const leaving = await directory.createClient({ type: 'SPA' });
    const token = await userToken(service, user.id, leaving);
    expect(await ask({ subject_token: token })).toMatchObject({ status: 200 });
    await prisma.application.delete({ where: { id: leaving.id } });
    await refused(token, 'token of an application that is gone');
  });

  test('revoked', async () => {
    const jti = newJti(service.clock.now());
    const token = await userToken(service, user.id, frontend, { jti });
    expect(await ask({ subject_token: token })).toMatchObject({ status: 200 });
    await prisma.revokedToken.create({
      data: { jti, expiresAt: new Date(service.clock.now().getTime() + 3_600_000) },
    });
    await refused(token, 'token revoked');
  });
});

describe('invalid_target', () => {
  test.each([
    'https://unknown.example.com/api',
    'orders',
    '/api',
    '//example.com/api',
    'https:',
    ' https://example.com',
    'https://example.com/a b',
    'a\0b',
    'https://example.com/\0',
    'urn:signet:organization',
    'URN:Signet:management',
    '\u{1f600}',
  ])('%j', async (resource) => {
    expectRefusal(await ask({ resource }), 400, 'invalid_target');
  });

  test('an indicator that differs from the registered one', async () => {
    for (const resource of [
      `${orders.indicator}/`,
      orders.indicator.toUpperCase(),
      `${orders.indicator}?x`,
      `${orders.indicator}#fragment`,
      `${orders.indicator}#`,
      `${orders.indicator} `,
    ]) {
      expectRefusal(await ask({ resource }), 400, 'invalid_target');
    }
  });

  test('a reserved indicator in other letters is refused even if such a resource exists', async () => {
    const stored = await directory.createResource([], { indicator: 'URN:signet:Orders' });
    expectRefusal(await ask({ resource: stored.indicator }), 400, 'invalid_target');
  });

  test('a fragment is refused even if such a resource exists', async () => {
    const stored = await directory.createResource([], { indicator: 'https://example.com/#x' });
    expectRefusal(await ask({ resource: stored.indicator }), 400, 'invalid_target');
  });

  test('several of them, even equal ones', async () => {
    const other = await directory.createResource([]);
    for (const second of [other.indicator, orders.indicator, '']) {
      const form = `${goodForm()}&resource=${encodeURIComponent(second)}`;
      expectRefusal(await postToken(service, form, { authorization }), 400, 'invalid_target');
    }
  });

  test('an organization without the user as a member', async () => {
    const organization = await directory.createOrganization();
    expectRefusal(await ask({ organization_id: organization.id }), 400, 'invalid_target');
  });
});

describe('invalid_scope', () => {
  test.each([
    ' ',
    'read ',
    ' read',
    'read  write',
    'read\twrite',
    'read\n',
    'a"b',
    'a\\b',
    'ü',
    'a\0b',
    '\u007f',
  ])('%j', async (scope) => {
    expectRefusal(await ask({ scope }), 400, 'invalid_scope');
  });

  test('not for many or long scopes that are well-formed', async () => {
    const many = Array.from({ length: 8000 }, (_, i) => `s${i}`).join(' ');
    expect(await ask({ scope: `${many} read` })).toMatchObject({
      status: 200,
      body: { scope: 'read' },
    });
    expect(await ask({ scope: `read ${'x'.repeat(60_000)}` })).toMatchObject({
      status: 200,
      body: { scope: 'read' },
    });
    expect(await ask({ scope: "read !#[]^_`{|}~'%()*+,-./:;<=>?@" })).toMatchObject({
      status: 200,
    });
  });
});

describe('random input', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(...Object.values(good), backend.id, 'client_credentials', 'a\0b', '%', ''),
  );
  const names = [
    ...Object.keys(good),
    'organization_id',
    'client_id',
    'client_secret',
    'actor_token',
  ];
  const anyName = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: anyText },
  );

  test('any form from an unknown client is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyName, anyText), { maxLength: 8 }), async (pairs) => {
        const { status, body } = await postToken(service, new URLSearchParams(pairs));
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
        expect(body).not.toHaveProperty('access_token');
      }),
      { numRuns: 150 },
    );
  });

  test('an exchange with any one parameter replaced breaks nothing', async () => {
    const changed = fc.constantFrom(...names.filter((name) => name !== 'scope'));
    const noise = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(changed, noise, async (name, value) => {
        const { status, body } = await ask({ [name]: value });
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
        expect(body).not.toHaveProperty('access_token');
      }),
      { numRuns: 150 },
    );
  });

  test('bytes of any kind are refused and break nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const { status } = await postToken(service, new Uint8Array(bytes), { authorization });
        expect(status).toBe(400);
      }),
      { numRuns: 100 },
    );
  });
});

describe('confidentiality', () => {
  test('neither tokens nor secrets are logged, at any level', async () => {
    const { body } = await ask();
    await ask({ subject_token: `${subjectToken}x` });
    await postToken(
      service,
      goodForm({ client_id: backend.id, client_secret: `${backend.secret}x` }),
    );
    const log = JSON.stringify(service.logged);
    expect(service.logged.length).toBeGreaterThan(0);
    for (const secret of [backend.secret, subjectToken, body['access_token'] as string]) {
      expect(log).not.toContain(secret);
      expect(log).not.toContain(secret.slice(-40));
    }
  });

  test('requests are counted by grant and outcome', async () => {
    const count = async (outcome: string) => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      const line = text
        .split('\n')
        .find((each) =>
          each.startsWith(
            `signet_token_requests_total{grant="${exchangeGrantType}",outcome="${outcome}"}`,
          ),
        );
      return Number(line?.split(' ').at(-1) ?? 0);
    };
    const [granted, refused] = [await count('granted'), await count('invalid_target')];
    await ask();
    await ask({ resource: 'https://unknown.example.com/' });
    expect(await count('granted')).toBe(granted + 1);
    expect(await count('invalid_target')).toBe(refused + 1);
  });

  test('no case was an error of the service', () => {
    expect(service.logged.filter(({ level }) => (level as number) >= 50)).toEqual([]);
  });
});

test('a database failure is server_error; only the log explains', async () => {
  const broken = await startService();
  const client = await seedDirectory(broken.app.services.database, broken.clock).createClient({
    allowTokenExchange: true,
  });
  await broken.app.services.database.prisma
    .$executeRaw`ALTER TABLE "RevokedToken" RENAME TO "Gone"`;
  const answer = await exchange(broken, client, {
    subject_token: await userToken(broken, strangerId(), client),
    resource: orders.indicator,
  });
  expectRefusal(answer, 500, 'server_error');
  expect(JSON.stringify(answer.body)).not.toContain('RevokedToken');
  // What runs by the clock misses the table too, and has no request.
  const line = broken.logged.find(({ level, traceId }) => level === 50 && traceId !== undefined);
  expect(line).toMatchObject({ err: { code: '42P01' } });
});
