// Service B with jose alone: `npm install jose`.
import { createServer } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;
// Keys are fetched once, and again when a token names an unknown key.
const keys = createRemoteJWKSet(new URL(`${ISSUER}/jwks`));

/** The claims of a token that is meant for this API, or nothing. */
async function check(token) {
  const { payload } = await jwtVerify(token, keys, {
    issuer: ISSUER,
    audience: API,
    typ: 'at+jwt',
    requiredClaims: ['sub', 'exp', 'client_id'],
  });
  return payload;
}

const server = createServer(async (request, response) => {
  const [, token = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const claims = await check(token).catch(() => undefined);
  const isAllowed = claims?.scope?.split(' ').includes(SCOPE);
  response.writeHead(claims ? (isAllowed ? 200 : 403) : 401);
  response.end(isAllowed ? JSON.stringify({ user: claims.sub }) : '');
});
server.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
