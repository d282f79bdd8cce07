// Signs people in with oauth4webapi: `npm install oauth4webapi express express-session`. It runs wherever `fetch` does.
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import * as oauth from 'oauth4webapi';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;
const redirectUri = `${baseUrl}/callback`;
// Without an API, the access token is for user info.
const target = API ? { resource: API } : {};
const client = { client_id: CLIENT_ID };
const authentication = oauth.ClientSecretBasic(CLIENT_SECRET);
// Only for tries on this machine.
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith('http://localhost') };
const issuer = new URL(ISSUER);
const server = await oauth.processDiscoveryResponse(
  issuer,
  await oauth.discoveryRequest(issuer, options),
);

const app = express();
app.use(
  session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: false }),
);

app.get('/', (request, response) => response.json(request.session.tokens?.claims ?? null));

app.get('/sign-in', async (request, response) => {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  request.session.checks = { verifier, state };
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid profile email offline_access orders:read',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...target,
  });
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const { verifier, state } = request.session.checks;
  const url = new URL(request.url, baseUrl);
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    oauth.validateAuthResponse(server, client, url, state),
    redirectUri,
    verifier,
    { ...options, additionalParameters: target },
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    requireIdToken: true,
  });
  await new Promise((resolve) => request.session.regenerate(resolve));
  keep(request, tokens);
  response.redirect('/');
});

/** Stores what an answer of the token endpoint brings. */
function keep(request, tokens) {
  request.session.tokens = {
    access: tokens.access_token,
    refresh: tokens.refresh_token,
    id: tokens.id_token,
    claims: oauth.getValidatedIdTokenClaims(tokens),
    expiresAt: Date.now() + tokens.expires_in * 1000,
  };
}

/** An access token that is good for a minute at least. */
async function accessToken(request) {
  const { refresh, expiresAt } = request.session.tokens;
  if (expiresAt - Date.now() <= 60_000) {
    const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, refresh, {
      ...options,
      additionalParameters: target,
    });
    keep(request, await oauth.processRefreshTokenResponse(server, client, answer));
  }
  return request.session.tokens.access;
}

app.get('/orders', async (request, response) => {
  const token = await accessToken(request);
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${token}` } });
  response.status(answer.status).send(await answer.text());
});

app.get('/profile', async (request, response) => {
  const { access, claims } = request.session.tokens;
  const answer = await oauth.userInfoRequest(server, client, access, options);
  response.json(await oauth.processUserInfoResponse(server, client, claims.sub, answer));
});

app.get('/sign-out', async (request, response) => {
  const { refresh, id } = request.session.tokens;
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, authentication, refresh, options),
  );
  await new Promise((resolve) => request.session.destroy(resolve));
  const url = new URL(server.end_session_endpoint);
  url.search = new URLSearchParams({ id_token_hint: id, post_logout_redirect_uri: baseUrl });
  response.redirect(url.href);
});

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
