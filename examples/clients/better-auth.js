// Signs people in with better-auth: `npm install better-auth hono @hono/node-server`. It keeps people and their tokens
// in a database of its own: here in memory.
import { randomBytes } from 'node:crypto';
import { serve } from '@hono/node-server';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { genericOAuth } from 'better-auth/plugins';
import { Hono } from 'hono';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;

const auth = betterAuth({
  baseURL: baseUrl,
  secret: randomBytes(32).toString('hex'),
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'signet',
          discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          scopes: ['openid', 'profile', 'email', 'offline_access', 'orders:read'],
          authorizationUrlParams: API ? { resource: API } : {},
        },
      ],
    }),
  ],
});

/** The person's account at Signet, without its tokens: better-auth has an id of its own for the person and for this. */
const accountAt = async (headers) =>
  (await auth.api.listUserAccounts({ headers })).find(({ providerId }) => providerId === 'signet');

const app = new Hono();
app.all('/api/auth/*', (context) => auth.handler(context.req.raw));

app.get('/', async (context) => {
  const { headers } = context.req.raw;
  const session = await auth.api.getSession({ headers });
  if (!session) return context.json(null);
  const { accountId } = await accountAt(headers);
  return context.json({ sub: accountId, name: session.user.name });
});

/** Answers with a redirect, and with the cookies that better-auth sets. */
function lead(context, { headers, response }) {
  for (const cookie of headers.getSetCookie())
    context.header('set-cookie', cookie, { append: true });
  return context.redirect(response.url);
}

app.get('/sign-in', async (context) => {
  const body = { provider: 'signet', callbackURL: baseUrl };
  const { headers } = context.req.raw;
  return lead(context, await auth.api.signInSocial({ body, headers, returnHeaders: true }));
});

app.get('/orders', async (context) => {
  const { headers } = context.req.raw;
  const body = { accountId: (await accountAt(headers)).id };
  let token = await auth.api.getAccessToken({ body, headers });
  // By itself it refreshes in the last five seconds.
  if (token.accessTokenExpiresAt.getTime() - Date.now() <= 60_000)
    token = await auth.api.refreshToken({ body, headers });
  const answer = await fetch(API_URL, {
    headers: { authorization: `Bearer ${token.accessToken}` },
  });
  return context.body(await answer.text(), answer.status);
});

app.get('/profile', async (context) => {
  const { headers } = context.req.raw;
  return context.json((await auth.api.getSession({ headers })).user);
});

app.get('/sign-out', async (context) => {
  const body = { callbackURL: baseUrl, disableRedirect: true };
  const { headers } = context.req.raw;
  return lead(context, await auth.api.signOut({ body, headers, returnHeaders: true }));
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, () =>
  console.log(`The client listens on port ${PORT}.`),
);
