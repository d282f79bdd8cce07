// Service B: an API that accepts only access tokens of Signet. It needs only `npm install jose`.
import { createServer } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const { ISSUER = 'http://localhost:3000/oidc', PORT = '4000' } = process.env;
// Keys are fetched once, and again when a token names an unknown key.
const keys = createRemoteJWKSet(new URL(`${ISSUER}/jwks`));

/** Checks an access token (RFC 9068 §4) and returns its claims. */
async function check(token) {
  const { payload } = await jwtVerify(token, keys, {
    issuer: ISSUER,
    // This API's own indicator: a token for another API is not for us.
    audience: 'https://orders.example.com',
    // An ID token is not an access token.
    typ: 'at+jwt',
    requiredClaims: ['sub', 'exp', 'client_id'],
  });
  return payload;
}

createServer(async (request, response) => {
  const refuse = (status, error) =>
    response.writeHead(status, { 'WWW-Authenticate': `Bearer error="${error}"` }).end();
  const [, token = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const claims = await check(token).catch(() => undefined);
  if (!claims) return refuse(401, 'invalid_token');
  if (!claims.scope?.split(' ').includes('orders:read')) return refuse(403, 'insufficient_scope');
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(
    JSON.stringify({ user: claims.sub, calledBy: claims.client_id, through: claims.act }),
  );
}).listen(Number(PORT), 'localhost', () => console.log(`Service B listens on port ${PORT}.`));
