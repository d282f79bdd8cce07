// Signs people in with arctic: `npm install arctic express express-session`. It reads no discovery document.
import { randomBytes } from 'node:crypto';
import * as arctic from 'arctic';
import express from 'express';
import session from 'express-session';

// A public client (SPA, NATIVE) has no secret: it may be null or empty.
const { ISSUER, CLIENT_ID, CLIENT_SECRET = null, API, API_URL, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;
const client = new arctic.OAuth2Client(CLIENT_ID, CLIENT_SECRET, `${baseUrl}/callback`);
const scopes = ['openid', 'profile', 'email', 'offline_access', 'orders:read'];

const app = express();
app.use(
  session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: false }),
);

app.get('/', (request, response) => response.json(request.session.tokens?.claims ?? null));

app.get('/sign-in', (request, response) => {
  const state = arctic.generateState();
  const verifier = arctic.generateCodeVerifier();
  request.session.checks = { state, verifier };
  const url = client.createAuthorizationURLWithPKCE(
    `${ISSUER}/auth`,
    state,
    arctic.CodeChallengeMethod.S256,
    verifier,
    scopes,
  );
  // It has no parameter for the API; the token endpoint takes it from the sign-in.
  if (API) url.searchParams.set('resource', API);
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const { state, code, iss } = request.query;
  const { checks } = request.session;
  if (!checks || state !== checks.state || iss !== ISSUER || !code) {
    return response.status(400).send('The sign-in was not begun here, or it was refused.');
  }
  const tokens = await client.validateAuthorizationCode(`${ISSUER}/token`, code, checks.verifier);
  await new Promise((resolve) => request.session.regenerate(resolve));
  keep(request, tokens);
  response.redirect('/');
});

/** Stores what an answer of the token endpoint brings. */
function keep(request, tokens) {
  request.session.tokens = {
    access: tokens.accessToken(),
    refresh: tokens.refreshToken(),
    id: tokens.idToken(),
    // It comes from Signet without a detour: its signature need not be checked (OpenID Connect Core §3.1.3.7).
    claims: arctic.decodeIdToken(tokens.idToken()),
    expiresAt: tokens.accessTokenExpiresAt().getTime(),
  };
}

/** An access token that is good for a minute at least. */
async function accessToken(request) {
  const { refresh, expiresAt } = request.session.tokens;
  if (expiresAt - Date.now() <= 60_000)
    keep(request, await client.refreshAccessToken(`${ISSUER}/token`, refresh, []));
  return request.session.tokens.access;
}

app.get('/orders', async (request, response) => {
  const token = await accessToken(request);
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${token}` } });
  response.status(answer.status).send(await answer.text());
});

app.get('/profile', async (request, response) => {
  const authorization = `Bearer ${request.session.tokens.access}`;
  const answer = await fetch(`${ISSUER}/me`, { headers: { authorization } });
  response.status(answer.status).send(await answer.text());
});

app.get('/sign-out', async (request, response) => {
  const { refresh, id } = request.session.tokens;
  await client.revokeToken(`${ISSUER}/token/revocation`, refresh);
  await new Promise((resolve) => request.session.destroy(resolve));
  const leave = new URLSearchParams({ id_token_hint: id, post_logout_redirect_uri: baseUrl });
  response.redirect(`${ISSUER}/session/end?${leave}`);
});

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
