// Service B with Fastify, @fastify/jwt and get-jwks.
import { createPublicKey } from 'node:crypto';
import fastifyJwt from '@fastify/jwt';
import Fastify from 'fastify';
import buildGetJwks from 'get-jwks';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const jwks = buildGetJwks({ issuersWhitelist: [ISSUER], providerDiscovery: true });
const app = Fastify();
await app.register(fastifyJwt, {
  decode: { complete: true },
  // Not `getPublicKey`, which has no Ed25519.
  secret: async (_request, { header: { kid, alg } }) => {
    const key = await jwks.getJwk({ kid, alg, domain: ISSUER });
    return createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  },
  verify: {
    allowedIss: ISSUER,
    allowedAud: API,
    checkTyp: 'at+jwt',
    // A claim that is absent is not compared with what is allowed.
    requiredClaims: ['iss', 'aud', 'exp', 'sub', 'client_id'],
  },
});
app.addHook('onRequest', async (request, reply) => {
  try {
    await request.jwtVerify();
  } catch {
    // As it stands, a key that is not in the set would be an error 500.
    return reply.code(401).header('WWW-Authenticate', 'Bearer error="invalid_token"').send();
  }
  if (!request.user.scope?.split(' ').includes(SCOPE)) return reply.code(403).send();
});
app.get('/', (request) => ({ user: request.user.sub }));

await app.listen({ port: Number(PORT), host: 'localhost' });
console.log(`Service B listens on port ${app.server.address().port}.`);
