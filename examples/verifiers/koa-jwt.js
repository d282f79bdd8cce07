// Service B with Koa, koa-jwt and jwks-rsa.
import jwksRsa from 'jwks-rsa';
import Koa from 'koa';
import koaJwt from 'koa-jwt';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const app = new Koa();
app.use(
  koaJwt({
    secret: jwksRsa.koaJwtSecret({ jwksUri: `${ISSUER}/jwks`, rateLimit: true }),
    issuer: ISSUER,
    audience: API,
    // The values of SIGNING_ALG that you have used; EdDSA cannot be among them.
    algorithms: ['ES256', 'ES384', 'PS256', 'RS256'],
    // The package looks at none of these itself. It hands over the token as text.
    isRevoked: async (_ctx, claims, token) => {
      const header = JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString());
      return !(header.typ === 'at+jwt' && claims.exp && claims.sub && claims.client_id);
    },
  }),
);
app.use((ctx) => {
  const { user } = ctx.state;
  if (!user.scope?.split(' ').includes(SCOPE)) ctx.throw(403);
  ctx.body = { user: user.sub };
});

const server = app.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
