// Signs people in with Auth.js: `npm install @auth/core hono @hono/node-server`. In Next.js, SvelteKit or Express the
// provider and the callbacks are the same; `Auth` is what their packages call.
import { randomBytes } from 'node:crypto';
import { Auth, skipCSRFCheck } from '@auth/core';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, PORT = '4100' } = process.env;
const baseUrl = `http://localhost:${PORT}`;

const config = {
  secret: randomBytes(32).toString('hex'),
  basePath: '/auth',
  trustHost: true,
  providers: [
    {
      id: 'signet',
      name: 'Signet',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: {
        params: {
          scope: 'openid profile email offline_access orders:read',
          // Without an API, the access token is for user info.
          ...(API ? { resource: API } : {}),
        },
      },
      // False: it asks for user info, which a token for an API is not for.
      idToken: Boolean(API),
      profile: ({ sub, name, email }) => ({ id: sub, name, email }),
    },
  ],
  callbacks: {
    /** What its cookie holds, encrypted. It calls this at each look at the session. */
    async jwt({ token, account, profile }) {
      if (account) return { ...token, sub: profile.sub, ...kept(account) };
      if (token.expiresAt - Date.now() > 60_000) return token;
      return { ...token, ...kept(await refreshed(token.refresh)) };
    },
    session: ({ session, token }) => ({ ...session, user: { ...session.user, sub: token.sub } }),
  },
};

/** What the app keeps of an answer of the token endpoint. */
const kept = ({ access_token, refresh_token, id_token, expires_in }) => ({
  access: access_token,
  refresh: refresh_token,
  id: id_token,
  expiresAt: Date.now() + expires_in * 1000,
});

/** It has no refresh of its own: the new tokens for a refresh token. */
async function refreshed(refresh_token) {
  const answer = await fetch(`${ISSUER}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token }),
  });
  if (!answer.ok) throw new Error(`No refresh: ${await answer.text()}`);
  return answer.json();
}

/** Sends one of its own requests to Auth.js. */
const send = (context, path, init, callbacks) =>
  Auth(
    new Request(`${baseUrl}/auth/${path}`, {
      ...init,
      headers: { cookie: context.req.header('cookie') ?? '' },
    }),
    { ...config, skipCSRFCheck, callbacks: { ...config.callbacks, ...callbacks } },
  );

/** The session as the browser may see it, and the tokens, which stay here. */
async function look(context) {
  let tokens;
  const answer = await send(context, 'session', undefined, {
    session(seen) {
      tokens = seen.token;
      return config.callbacks.session(seen);
    },
  });
  passCookies(answer, context);
  return { session: await answer.json(), tokens };
}

function passCookies(answer, context) {
  for (const cookie of answer.headers.getSetCookie())
    context.header('set-cookie', cookie, { append: true });
}

const app = new Hono();
app.all('/auth/*', (context) => Auth(context.req.raw, config));

app.get('/', async (context) => context.json((await look(context)).session?.user ?? null));

app.get('/sign-in', (context) => {
  const body = new URLSearchParams({ callbackUrl: baseUrl });
  return send(context, 'signin/signet', { method: 'POST', body });
});

app.get('/orders', async (context) => {
  const { tokens } = await look(context);
  const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${tokens.access}` } });
  return context.body(await answer.text(), answer.status);
});

app.get('/profile', async (context) => context.json((await look(context)).session.user));

app.get('/sign-out', async (context) => {
  const { tokens } = await look(context);
  passCookies(await send(context, 'signout', { method: 'POST' }), context);
  const leave = new URLSearchParams({
    id_token_hint: tokens.id,
    post_logout_redirect_uri: baseUrl,
  });
  return context.redirect(`${ISSUER}/session/end?${leave}`);
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, () =>
  console.log(`The client listens on port ${PORT}.`),
);
