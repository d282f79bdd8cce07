// Signs people in with @hono/oidc-auth: `npm install @hono/oidc-auth hono @hono/node-server`. All of its session is in
// a cookie of the browser: the refresh token too.
import { randomBytes } from 'node:crypto';
import { serve } from '@hono/node-server';
import {
  getAuth,
  getAuthorizationServer,
  initOidcAuthMiddleware,
  oidcAuthMiddleware,
  revokeSession,
} from '@hono/oidc-auth';
import { Hono } from 'hono';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REFRESH_SECONDS = '60', PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;

const app = new Hono();
app.use(
  initOidcAuthMiddleware({
    OIDC_ISSUER: ISSUER,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_AUTH_SECRET: randomBytes(32).toString('hex'),
    OIDC_REDIRECT_URI: `${baseUrl}/callback`,
    // Only names of `scopes_supported`, so no scope of an API.
    OIDC_SCOPES: 'openid profile email offline_access',
    // Each refresh brings the claims as they are then; in seconds.
    OIDC_AUTH_REFRESH_INTERVAL: REFRESH_SECONDS,
  }),
);
app.use(async (context, next) => {
  context.set('oidcClaimsHook', async (before, claims) => ({ ...before, ...claims }));
  await next();
});

app.get('/', async (context) => {
  const { sub, name, email } = (await getAuth(context)) ?? {};
  return context.json(sub ? { sub, name, email } : null);
});

app.get('/sign-out', async (context) => {
  await revokeSession(context);
  const { end_session_endpoint } = await getAuthorizationServer(context);
  const leave = new URLSearchParams({ client_id: CLIENT_ID, post_logout_redirect_uri: baseUrl });
  return context.redirect(`${end_session_endpoint}?${leave}`);
});

// From here on somebody is signed in.
app.use(oidcAuthMiddleware());
app.get('/sign-in', (context) => context.redirect('/'));
app.get('/profile', async (context) => context.json(await getAuth(context)));

serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, () =>
  console.log(`The client listens on port ${PORT}.`),
);
