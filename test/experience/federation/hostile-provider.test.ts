import { createHmac } from 'node:crypto';
import { decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import { withoutRefusals } from '../../support/events.ts';
import { type Behaviour, startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { allowPrivate, connectSteered, continueWith } from '../../support/people/federation.ts';
import { createSignInFixture, openSignInPage } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ ...allowPrivate, WEBHOOK_TIMEOUT_SECONDS: '5' });
const { client, database, createUser } = await createSignInFixture(service);
const hostile = await startOpenIdProvider();
const honest = await startOpenIdProvider();
await connectSteered(service, hostile, 'Hostile');
await connectSteered(service, honest, 'Honest');
await createUser({
  username: 'owner',
  primaryEmail: 'owner@example.com',
  isEmailVerified: true,
});

afterEach(() => {
  hostile.behave({});
  honest.behave({});
  service.logged.length = 0;
});

let count = 0;
/** Sends a browser to a provider, and answers what the provider sends back. */
async function leave(name = 'Hostile') {
  const { browser, visit } = await openSignInPage(service, client);
  const { url } = await continueWith(browser, visit, name);
  count += 1;
  return { browser, visit, url, subject: `subject-${count}` };
}

/** All that a federation could write. */
const written = async () => ({
  users: await database.prisma.user.count(),
  identities: await database.prisma.userIdentity.count(),
  events: await database.prisma.event.count({ where: withoutRefusals }),
  newcomers: await database.prisma.newcomer.count(),
  signedIn: await database.prisma.interaction.count({ where: { userId: { not: null } } }),
});

const reasons = () =>
  service.logged.flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : []));

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);
const redirectTo =
  (location: string): NonNullable<Behaviour['answer']>[string] =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();

interface Trick {
  readonly behaviour?: Behaviour;
  /** Changes the answer of the callback. */
  readonly callback?: (answer: URLSearchParams) => void;
  /** Why it is refused, as the log says. */
  readonly reason: RegExp;
}

const tricks: Record<string, Trick> = {
  'an ID token of another issuer': {
    behaviour: { claims: { iss: 'https://other.example.com' } },
    reason: /"iss"/,
  },
  'an ID token for another audience': {
    behaviour: { claims: { aud: 'another' } },
    reason: /"aud"/,
  },
  'two audiences without azp': {
    behaviour: { claims: { aud: ['signet', 'another'] } },
    reason: /additional untrusted audiences/,
  },
  'two audiences and the azp of another': {
    behaviour: { claims: { aud: ['signet', 'another'], azp: 'another' } },
    reason: /azp/,
  },
  'one audience and the azp of another': {
    behaviour: { claims: { azp: 'another' } },
    reason: /azp/,
  },
  'another nonce': { behaviour: { claims: { nonce: 'another' } }, reason: /nonce/ },
  'no nonce': { behaviour: { claims: { nonce: undefined } }, reason: /nonce/ },
  'an expired ID token': {
    behaviour: { claims: { iat: now() - 900, exp: now() - 600 } },
    reason: /"exp"/,
  },
  'an ID token without an expiry': { behaviour: { claims: { exp: undefined } }, reason: /"exp"/ },
  'an ID token issued in the future': {
    behaviour: { claims: { iat: now() + 3600, exp: now() + 7200 } },
    reason: /iat/,
  },
  'an ID token not valid yet': { behaviour: { claims: { nbf: now() + 3600 } }, reason: /"nbf"/ },
  'an ID token without a subject': { behaviour: { claims: { sub: undefined } }, reason: /"sub"/ },
  'a subject that is a number': { behaviour: { claims: { sub: 42 } }, reason: /sub/ },
  'a subject that is a list': { behaviour: { claims: { sub: ['a'] } }, reason: /sub/ },
  'an empty subject': { behaviour: { claims: { sub: '' } }, reason: /sub/ },
  'a subject of 300 characters': { behaviour: { claims: { sub: 'x'.repeat(300) } }, reason: /sub/ },
  'a subject with a NUL character': { behaviour: { claims: { sub: 'a\0b' } }, reason: /sub/ },
  'no ID token': { behaviour: { sign: () => undefined as never }, reason: /id_token/ },
  'alg none': {
    behaviour: { sign: (claims) => new UnsecuredJWT(claims).encode() },
    reason: /alg/,
  },
  'HS256 with the public key as the secret': {
    behaviour: {
      sign(claims) {
        const input = `${base64({ alg: 'HS256', kid: hostile.jwks().keys[0]?.['kid'] })}.${base64(claims)}`;
        const secret = JSON.stringify(hostile.jwks().keys[0]);
        return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
      },
    },
    reason: /alg/,
  },
  'HS256 with the client secret': {
    behaviour: {
      sign(claims) {
        const input = `${base64({ alg: 'HS256' })}.${base64(claims)}`;
        const digest = createHmac('sha256', hostile.clientSecret).update(input).digest('base64url');
        return `${input}.${digest}`;
      },
    },
    reason: /alg/,
  },
  'a key of its own in the header': {
    behaviour: {
      async sign(claims) {
        const { privateKey, publicKey } = await generateKeyPair('ES256');
        const header = { alg: 'ES256', kid: 'key-1', jwk: await exportJWK(publicKey) };
        return new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
      },
    },
    reason: /signature/,
  },
  'a key that is not published': {
    behaviour: { header: { kid: 'key-9' } },
    reason: /no applicable keys/,
  },
  'a changed payload': {
    behaviour: {
      async sign(claims) {
        const [header, , signature] = (await hostile.sign(claims)).split('.');
        return `${header}.${base64({ ...claims, sub: 'somebody-else' })}.${signature}`;
      },
    },
    reason: /signature/,
  },
  'another iss parameter': {
    callback: (answer) => answer.set('iss', 'https://other.example.com'),
    reason: /"iss"/,
  },
  'no iss parameter though it is announced': {
    callback: (answer) => answer.delete('iss'),
    reason: /"iss"/,
  },
  'two codes': { callback: (answer) => answer.append('code', 'b'), reason: /code/ },
  'neither code nor error': { callback: (answer) => answer.delete('code'), reason: /code/ },
  'a huge token answer': {
    behaviour: { claims: { padding: 'x'.repeat(400_000) } },
    reason: /256 KiB/,
  },
  'a huge key set': {
    behaviour: {
      answer: {
        '/jwks': (_request, response) =>
          void response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ keys: [], padding: 'x'.repeat(400_000) })),
      },
    },
    reason: /256 KiB/,
  },
  'a redirect of the token endpoint': {
    behaviour: { answer: { '/token': redirectTo('/elsewhere') } },
    reason: /unexpected|status/i,
  },
  'a redirect of the key set': {
    behaviour: { answer: { '/jwks': redirectTo('/elsewhere') } },
    reason: /200|status/i,
  },
  'a token endpoint that never answers': {
    behaviour: { answer: { '/token': () => undefined } },
    reason: /timeout|aborted/i,
  },
  'a token endpoint that answers in HTML': {
    behaviour: {
      answer: {
        '/token': (_request, response) =>
          void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello'),
      },
    },
    reason: /content-type|JSON/i,
  },
  'a discovery document of another issuer': {
    behaviour: { discovery: { issuer: 'https://other.example.com' } },
    reason: /issuer/,
  },
  'another person at the userinfo endpoint': {
    behaviour: { userInfo: { sub: 'somebody-else', email: 'x@example.com' } },
    reason: /sub/,
  },
};

describe('refuses', () => {
  test.each(Object.entries(tricks))('%s', async (_name, { behaviour = {}, callback, reason }) => {
    const { browser, visit, url, subject } = await leave();
    const before = await written();
    const answer = hostile.signedIn(url, subject);
    hostile.behave(behaviour);
    callback?.(answer.searchParams);
    const back = await browser.open(answer);
    expect(back.url.pathname).toBe(visit.url.pathname);
    expect(back.body).toContain('could not sign you in');
    expect(reasons()).toEqual([expect.stringMatching(reason)]);
    expect(await written()).toEqual(before);
    expect(hostile.asked).not.toContain('/elsewhere');
  });

  test('a state of nobody', async () => {
    const { browser, visit, url, subject } = await leave();
    const before = await written();
    const answer = hostile.signedIn(url, subject);
    const [uid] = (answer.searchParams.get('state') ?? '').split('.');
    answer.searchParams.set('state', `${uid}.${'x'.repeat(43)}`);
    const back = await browser.open(answer);
    expect(back.url.pathname).toBe(visit.url.pathname);
    expect(back.body).toContain('took too long, or was already answered');
    expect(await written()).toEqual(before);
  });

  test('the answer of another provider', async () => {
    const { browser, url, subject } = await leave('Honest');
    const before = await written();
    // The hostile one has the state, and wants its own code redeemed at the honest one, or the honest one's at its own.
    honest.signedIn(url, subject);
    const answer = hostile.signedIn(url, subject);
    const asked = hostile.asked.length;
    const back = await browser.open(answer);
    expect(back.body).toContain('could not sign you in');
    expect(reasons()).toEqual([expect.stringMatching(/"iss"/)]);
    expect(hostile.asked.length).toBe(asked);
    expect(honest.asked).not.toContain('/token');
    expect(await written()).toEqual(before);
  });

  test('the callback of another browser, and uses nothing up', async () => {
    const { browser, url, subject } = await leave();
    const stranger = await openSignInPage(service, client);
    const before = await written();
    const answer = hostile.signedIn(url, subject);
    const asked = hostile.asked.length;
    const refused = await stranger.browser.open(answer);
    expect(refused.status).toBe(404);
    expect(refused.body).toContain('Begin again');
    expect(hostile.asked.length).toBe(asked);
    expect(await written()).toEqual(before);
    const back = await browser.open(answer);
    expect(back.url.pathname).toMatch(/\/profile$/);
  });

  test('a callback that is repeated', async () => {
    const { browser, url, subject } = await leave();
    const answer = hostile.signedIn(url, subject);
    await browser.open(answer);
    const asked = hostile.asked.length;
    const again = await browser.open(answer);
    // The first one stands.
    expect(again.url.pathname).toMatch(/\/profile$/);
    expect(hostile.asked.length).toBe(asked);
  });

  test('a callback after ten minutes', async () => {
    const { browser, url, subject } = await leave();
    const answer = hostile.signedIn(url, subject);
    service.clock.advance(10 * 60 * 1000 + 1);
    const back = await browser.open(answer);
    expect(back.body).toContain('took too long, or was already answered');
    service.clock.advance(-10 * 60 * 1000 - 1);
  });

  test('an authorization endpoint that is no web address', async () => {
    hostile.behave({ discovery: { authorization_endpoint: 'javascript:alert(1)' } });
    const { browser, visit } = await openSignInPage(service, client);
    const back = await continueWith(browser, visit, 'Hostile');
    expect(back.url.pathname).toBe(visit.url.pathname);
    expect(back.body).toContain('could not sign you in');
  });

  test('a withdrawn key, and takes the new one', async () => {
    const first = await leave();
    const old = hostile.jwks().keys[0]?.['kid'];
    await first.browser.open(hostile.signedIn(first.url, first.subject));
    const second = await leave();
    const answer = hostile.signedIn(second.url, second.subject);
    const stale = await hostile.sign({
      iss: hostile.issuer,
      aud: 'signet',
      iat: now(),
      exp: now() + 300,
      sub: second.subject,
      nonce: second.url.searchParams.get('nonce'),
    });
    expect(decodeProtectedHeader(stale).kid).toBe(old);
    await hostile.rotate();
    hostile.behave({ sign: () => stale });
    const refused = await second.browser.open(answer);
    expect(refused.body).toContain('could not sign you in');
    hostile.behave({});
    const third = await leave();
    const taken = await third.browser.open(hostile.signedIn(third.url, third.subject));
    expect(taken.url.pathname).toMatch(/\/profile$/);
  });
});

describe("an owner's address", () => {
  test.each([
    ['unverified', { email: 'owner@example.com', email_verified: false }],
    ['without a word on it', { email: 'owner@example.com' }],
    ['verified in words', { email: 'owner@example.com', email_verified: 'true' }],
    ['verified elsewhere', { email_verified: true }],
  ])('%s links nothing and tells nothing', async (_name, claims) => {
    const { browser, url, subject } = await leave();
    const answer = hostile.signedIn(url, subject, claims);
    // The userinfo endpoint may not vouch with the ID token's word, nor the other way round.
    hostile.behave({ userInfo: { email: 'owner@example.com' } });
    const back = await browser.open(answer);
    expect(back.url.pathname).toMatch(/\/profile$/);
    expect(back.body).not.toContain('owner@example.com');
    expect(await database.prisma.userIdentity.count()).toBe(0);
  });
});
