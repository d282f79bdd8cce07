// Service B with Express, express-jwt and jwks-rsa.
import express from 'express';
import { expressjwt } from 'express-jwt';
import jwksRsa from 'jwks-rsa';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const app = express();
app.use(
  expressjwt({
    secret: jwksRsa.expressJwtSecret({ jwksUri: `${ISSUER}/jwks`, rateLimit: true }),
    issuer: ISSUER,
    audience: API,
    // The values of SIGNING_ALG that you have used; EdDSA cannot be among them.
    algorithms: ['ES256', 'ES384', 'PS256', 'RS256'],
    // The package looks at none of these itself.
    isRevoked: (_request, { header, payload }) =>
      !(header.typ === 'at+jwt' && payload.exp && payload.sub && payload.client_id),
  }),
);
app.get('/', (request, response) => {
  if (!request.auth.scope?.split(' ').includes(SCOPE)) return response.sendStatus(403);
  response.json({ user: request.auth.sub });
});
// What is refused is no error of this service: Express would print each.
app.use((error, _request, response, _next) => {
  response.sendStatus(error.status ?? 500);
});

const server = app.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
