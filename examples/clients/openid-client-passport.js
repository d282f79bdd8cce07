// Signs people in with passport and the strategy of openid-client, which has PKCE and resources:
// `npm install openid-client passport express express-session`.
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import * as oidc from 'openid-client';
import { Strategy } from 'openid-client/passport';
import passport from 'passport';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;
// Without an API, the access token is for user info.
const target = API ? { resource: API } : {};
const config = await oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  // Only for tries on this machine.
  execute: ISSUER.startsWith('http://localhost') ? [oidc.allowInsecureRequests] : [],
});

/** What the app keeps of an answer of the token endpoint. */
const userOf = (tokens) => ({
  access: tokens.access_token,
  refresh: tokens.refresh_token,
  id: tokens.id_token,
  claims: tokens.claims(),
  expiresAt: Date.now() + tokens.expires_in * 1000,
});

passport.use(
  'signet',
  new Strategy(
    {
      config,
      callbackURL: `${baseUrl}/callback`,
      scope: 'openid profile email offline_access orders:read',
      resource: API,
    },
    (tokens, done) => done(null, userOf(tokens)),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(
  session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: false }),
);
app.use(passport.session());

app.get('/', (request, response) => response.json(request.user?.claims ?? null));

app.get('/sign-in', passport.authenticate('signet'));

app.get(
  '/callback',
  passport.authenticate('signet', { successRedirect: '/', failureRedirect: '/sign-in' }),
);

/** An access token that is good for a minute at least. */
async function accessToken(request) {
  if (request.user.expiresAt - Date.now() > 60_000) return request.user.access;
  const user = userOf(await oidc.refreshTokenGrant(config, request.user.refresh, target));
  request.session.passport.user = user;
  return user.access;
}

app.get('/orders', async (request, response) => {
  const token = await accessToken(request);
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${token}` } });
  response.status(answer.status).send(await answer.text());
});

app.get('/profile', async (request, response) => {
  const { access, claims } = request.user;
  response.json(await oidc.fetchUserInfo(config, access, claims.sub));
});

app.get('/sign-out', async (request, response) => {
  const { refresh, id } = request.user;
  await oidc.tokenRevocation(config, refresh);
  await new Promise((resolve) => request.session.destroy(resolve));
  const url = oidc.buildEndSessionUrl(config, {
    id_token_hint: id,
    post_logout_redirect_uri: baseUrl,
  });
  response.redirect(url.href);
});

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
