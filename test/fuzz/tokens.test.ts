import { expect, test } from 'vitest';
import { managementIndicator } from '../../src/auth/scopes.ts';
import { basic } from '../support/client-credentials.ts';
import { accessTokenType, exchangeGrantType } from '../support/tokens.ts';
import { fuzz, pick, rarely } from './drawing/fuzz.ts';
import { forged, odd } from './drawing/jwts.ts';
import { hostileText } from './drawing/values.ts';
import { type Answer, formRequest, graphqlRequest, type Request } from './send.ts';
import { createWorld } from './world.ts';

const { service, admin, account, fixture, ask } = await createWorld();
const { keys } = service.app.services;
const publicKey = JSON.stringify(keys.jwks());
const { id_token: idToken = '', access_token: resourceToken } = await fixture.signIn({
  scope: 'openid read',
  resource: fixture.resource.indicator,
});
const exchanger = await fixture.directory.createClient({ allowTokenExchange: true });
const authorization = basic(exchanger.id, exchanger.secret);

const tokens = [admin, account, resourceToken, idToken];

interface Door {
  readonly name: string;
  /** Whether one of {@link tokens} is a good one here. */
  readonly takesJwt?: true;
  readonly request: (token: string) => Request;
  /** Whether the token was taken for a good one. */
  readonly accepts: (answer: Answer) => boolean;
}

const isOk = ({ status }: Answer) => status < 400;
const bearer = (path: string, scheme = 'Bearer') => ({
  name: path,
  request: (token: string): Request => ({
    method: 'GET',
    path,
    headers: { authorization: `${scheme} ${token}` },
  }),
  accepts: isOk,
});
const graphqlDoor = (path: string, query: string): Door => ({
  name: path,
  takesJwt: true,
  request: (token) => graphqlRequest(path, { query }, token),
  accepts: ({ text }) => /"data":\{"\w+":\{/.test(text),
});
const subject = (form: (token: string) => Record<string, string>, name: string): Door => ({
  name,
  request: (token) =>
    formRequest('/oidc/token', authorization, {
      grant_type: exchangeGrantType,
      resource: fixture.resource.indicator,
      ...form(token),
    }),
  accepts: isOk,
});

const doors: readonly Door[] = [
  graphqlDoor('/graphql', '{ users { totalCount } }'),
  graphqlDoor('/account/graphql', '{ viewer { id } }'),
  { ...bearer('/api/users'), takesJwt: true },
  bearer('/oidc/me'),
  bearer('/oidc/me', 'DPoP'),
  {
    name: 'the console',
    request: (token) => ({
      method: 'GET',
      path: '/console/session',
      headers: { cookie: `signet_console=${token}` },
    }),
    accepts: isOk,
  },
  {
    name: 'the Experience API',
    request: (token) => ({
      ...graphqlRequest('/experience/graphql', { query: '{ interaction { id } }' }),
      headers: { 'content-type': 'application/json', authorization: `Interaction ${token}` },
    }),
    accepts: (answer) => isOk(answer) && !answer.text.includes('UNAUTHENTICATED'),
  },
  {
    name: 'introspection',
    takesJwt: true,
    request: (token) => formRequest('/oidc/token/introspection', authorization, { token }),
    accepts: ({ text }) => text.includes('"active":true'),
  },
  {
    name: 'revocation',
    request: (token) => formRequest('/oidc/token/revocation', authorization, { token }),
    // It answers the same for every token (RFC 7009 §2.2).
    accepts: () => false,
  },
  {
    ...subject(
      (token) => ({ subject_token: token, subject_token_type: accessTokenType }),
      'a subject token',
    ),
    takesJwt: true,
  },
  subject(
    (token) => ({
      subject_token: resourceToken,
      subject_token_type: accessTokenType,
      actor_token: token,
      actor_token_type: accessTokenType,
    }),
    'an actor token',
  ),
  {
    name: 'a refresh token',
    request: (token) =>
      formRequest('/oidc/token', basic(fixture.client.id, fixture.client.secret), {
        grant_type: 'refresh_token',
        refresh_token: token,
      }),
    accepts: isOk,
  },
];

// Without it, a door that refuses everything would prove nothing. The others take none of these tokens.
test.each(doors.filter(({ takesJwt }) => takesJwt))('$name takes a good token', async (door) => {
  const answers = await Promise.all(tokens.map((token) => ask(door.request(token))));
  expect(answers.some(door.accepts), JSON.stringify(answers)).toBe(true);
});

fuzz('a forged token is refused at every door', 100, async (g) => {
  const door = pick(g, doors);
  const token = rarely(g, 8) ? hostileText(g) : forged(g, pick(g, tokens), publicKey);
  const answer = await ask(door.request(token));
  expect(door.accepts(answer), `${door.name}: ${token} ${answer.text}`).toBe(false);
});

fuzz('a signed token with odd claims is judged, never a fault', 120, async (g) => {
  await ask(pick(g, doors).request(await odd(g, pick(g, tokens), keys)));
});

fuzz('a damaged form is refused at the token endpoints', 120, async (g) => {
  const path = pick(g, ['/oidc/token', '/oidc/token/introspection', '/oidc/token/revocation']);
  const form = new URLSearchParams({
    grant_type: pick(g, [
      exchangeGrantType,
      'client_credentials',
      'authorization_code',
      'refresh_token',
      hostileText(g),
    ]),
    subject_token_type: accessTokenType,
    resource: managementIndicator,
    [pick(g, [
      'resource',
      'scope',
      'audience',
      'subject_token',
      'subject_token_type',
      'requested_token_type',
      'organization_id',
      'code',
      'code_verifier',
      'refresh_token',
      'redirect_uri',
      'token',
      'token_type_hint',
      'client_id',
      'client_secret',
      'client_assertion',
      'client_assertion_type',
    ])]: hostileText(g),
  });
  const known = rarely(g, 4) ? basic(hostileText(g).toWellFormed(), 'x') : authorization;
  const asked = formRequest(path, rarely(g, 6) ? hostileText(g) : known, {});
  const body = rarely(g, 4) ? hostileText(g) : form.toString();
  await ask({ ...asked, body });
});
