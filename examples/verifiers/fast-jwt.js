// Service B with fast-jwt and get-jwks.
import { createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import { createVerifier } from 'fast-jwt';
import buildGetJwks from 'get-jwks';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const jwks = buildGetJwks({ issuersWhitelist: [ISSUER], providerDiscovery: true });
const verify = createVerifier({
  // Not `getPublicKey`, which has no Ed25519.
  key: async ({ header: { kid, alg } }) => {
    const key = await jwks.getJwk({ kid, alg, domain: ISSUER });
    return createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  },
  allowedIss: ISSUER,
  allowedAud: API,
  checkTyp: 'at+jwt',
  // A claim that is absent is not compared with what is allowed.
  requiredClaims: ['iss', 'aud', 'exp', 'sub', 'client_id'],
});

const server = createServer(async (request, response) => {
  const [, token = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const claims = await verify(token).catch(() => undefined);
  const isAllowed = claims?.scope?.split(' ').includes(SCOPE);
  response.writeHead(claims ? (isAllowed ? 200 : 403) : 401);
  response.end(isAllowed ? JSON.stringify({ user: claims.sub }) : '');
});
server.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
