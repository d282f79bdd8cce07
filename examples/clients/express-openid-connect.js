// Signs people in with express-openid-connect: `npm install express-openid-connect express`. Its PKCE, its state and its
// session come by themselves, and it takes `audience` for the API, as it does at Auth0.
import { randomBytes } from 'node:crypto';
import express from 'express';
import oidc from 'express-openid-connect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, API, API_URL, PORT = '4100' } = process.env;
const { requiresAuth } = oidc;

const app = express();
app.use(
  oidc.auth({
    issuerBaseURL: ISSUER,
    baseURL: `http://localhost:${PORT}`,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: randomBytes(32).toString('hex'),
    authRequired: false,
    routes: { login: '/sign-in', logout: '/sign-out' },
    // It takes RS256 alone unless it is told otherwise.
    idTokenSigningAlg: 'ES256',
    idpLogout: true,
    authorizationParams: {
      response_type: 'code',
      scope: 'openid profile email offline_access orders:read',
      // Without an API, the access token is for user info.
      ...(API ? { audience: API } : {}),
    },
  }),
);

app.get('/', (request, response) => response.json(request.oidc.user ?? null));

app.get('/orders', requiresAuth(), async (request, response) => {
  let token = request.oidc.accessToken;
  if (token.expires_in <= 60) token = await token.refresh();
  const answer = await fetch(API_URL, {
    headers: { authorization: `Bearer ${token.access_token}` },
  });
  response.status(answer.status).send(await answer.text());
});

app.get('/profile', requiresAuth(), async (request, response) =>
  response.json(await request.oidc.fetchUserInfo()),
);

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
