// Signs people in with openid-client: `npm install openid-client express express-session`.
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import * as oidc from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;
// Without an API, the access token is for user info.
const target = API ? { resource: API } : {};
const config = await oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  // Only for tries on this machine.
  execute: ISSUER.startsWith('http://localhost') ? [oidc.allowInsecureRequests] : [],
});

const app = express();
app.use(
  session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: false }),
);

app.get('/', (request, response) => response.json(request.session.tokens?.claims ?? null));

app.get('/sign-in', async (request, response) => {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const expectedState = oidc.randomState();
  request.session.checks = { pkceCodeVerifier, expectedState };
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: `${baseUrl}/callback`,
    scope: 'openid profile email offline_access orders:read',
    state: expectedState,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...target,
  });
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const { checks } = request.session;
  const answer = await oidc.authorizationCodeGrant(
    config,
    new URL(request.url, baseUrl),
    checks,
    target,
  );
  await new Promise((resolve) => request.session.regenerate(resolve));
  keep(request, answer);
  response.redirect('/');
});

/** Stores what an answer of the token endpoint brings. */
function keep(request, answer) {
  request.session.tokens = {
    access: answer.access_token,
    refresh: answer.refresh_token,
    id: answer.id_token,
    claims: answer.claims(),
    expiresAt: Date.now() + answer.expires_in * 1000,
  };
}

/** An access token that is good for a minute at least. */
async function accessToken(request) {
  const { refresh, expiresAt } = request.session.tokens;
  if (expiresAt - Date.now() <= 60_000)
    keep(request, await oidc.refreshTokenGrant(config, refresh, target));
  return request.session.tokens.access;
}

app.get('/orders', async (request, response) => {
  const token = await accessToken(request);
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${token}` } });
  response.status(answer.status).send(await answer.text());
});

app.get('/profile', async (request, response) => {
  const { access, claims } = request.session.tokens;
  response.json(await oidc.fetchUserInfo(config, access, claims.sub));
});

app.get('/sign-out', async (request, response) => {
  const { refresh, id } = request.session.tokens;
  await oidc.tokenRevocation(config, refresh);
  await new Promise((resolve) => request.session.destroy(resolve));
  const url = oidc.buildEndSessionUrl(config, {
    id_token_hint: id,
    post_logout_redirect_uri: baseUrl,
  });
  response.redirect(url.href);
});

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
