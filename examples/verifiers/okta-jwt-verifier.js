// Service B with @okta/jwt-verifier. It takes RS256 alone: `signingAlg: RS256` of this API, or SIGNING_ALG=RS256.
import { createServer } from 'node:http';
import OktaJwtVerifier from '@okta/jwt-verifier';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const verifier = new OktaJwtVerifier({
  issuer: ISSUER,
  jwksUri: `${ISSUER}/jwks`,
  // For an issuer on http alone, as in development.
  testing: { disableHttpsCheck: ISSUER.startsWith('http:') },
});

/** The claims of a token that is meant for this API, or nothing. */
async function check(token) {
  const { header, claims } = await verifier.verifyAccessToken(token, API);
  const isAccessToken = header.typ === 'at+jwt' && claims.exp && claims.sub && claims.client_id;
  return isAccessToken ? claims : undefined;
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
