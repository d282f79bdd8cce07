// Gets tokens with simple-oauth2: `npm install simple-oauth2 express express-session`. It reads no discovery document,
// has no PKCE of its own, and looks at no ID token: those lines are here.
import { createHash, randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import { AuthorizationCode } from 'simple-oauth2';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;
const redirect_uri = `${baseUrl}/callback`;
const client = new AuthorizationCode({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: {
    tokenHost: new URL(ISSUER).origin,
    tokenPath: '/oidc/token',
    authorizePath: '/oidc/auth',
    revokePath: '/oidc/token/revocation',
  },
});
// Without an API, the access token is for user info.
const target = API ? { resource: API } : {};

const app = express();
app.use(
  session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: false }),
);

app.get('/', (request, response) => response.json(claimsOf(request.session.token)));

/** The claims of the ID token: it comes from Signet without a detour (OpenID Connect Core §3.1.3.7). */
const claimsOf = (token) =>
  token ? JSON.parse(Buffer.from(token.id_token.split('.')[1], 'base64url')) : null;

app.get('/sign-in', (request, response) => {
  const [state, verifier] = [randomBytes(32), randomBytes(32)].map((b) => b.toString('base64url'));
  request.session.checks = { state, verifier };
  const url = client.authorizeURL({
    redirect_uri,
    scope: 'openid profile email offline_access orders:read',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...target,
  });
  response.redirect(url);
});

app.get('/callback', async (request, response) => {
  const { state, code, iss } = request.query;
  const { checks } = request.session;
  if (!checks || state !== checks.state || iss !== ISSUER || !code) {
    return response.status(400).send('The sign-in was not begun here, or it was refused.');
  }
  const code_verifier = checks.verifier;
  const { token } = await client.getToken({ code, redirect_uri, code_verifier, ...target });
  await new Promise((resolve) => request.session.regenerate(resolve));
  request.session.token = token;
  response.redirect('/');
});

/** An access token that is good for a minute at least. */
async function accessToken(request) {
  const tokens = client.createToken(request.session.token);
  if (tokens.expired(60)) request.session.token = (await tokens.refresh(target)).token;
  return request.session.token.access_token;
}

app.get('/orders', async (request, response) => {
  const token = await accessToken(request);
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${token}` } });
  response.status(answer.status).send(await answer.text());
});

app.get('/profile', async (request, response) => {
  const authorization = `Bearer ${request.session.token.access_token}`;
  const answer = await fetch(`${ISSUER}/me`, { headers: { authorization } });
  response.status(answer.status).send(await answer.text());
});

app.get('/sign-out', async (request, response) => {
  const { token } = request.session;
  await client.createToken(token).revokeAll();
  await new Promise((resolve) => request.session.destroy(resolve));
  const leave = new URLSearchParams({
    id_token_hint: token.id_token,
    post_logout_redirect_uri: baseUrl,
  });
  response.redirect(`${ISSUER}/session/end?${leave}`);
});

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
