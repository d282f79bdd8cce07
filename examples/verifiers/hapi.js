// Service B with hapi, @hapi/jwt and jwks-rsa. By `keys: { uri }` it would take RSA alone, and know a new key after an hour.
import Hapi from '@hapi/hapi';
import Jwt from '@hapi/jwt';
import jwksRsa from 'jwks-rsa';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const keys = jwksRsa({ jwksUri: `${ISSUER}/jwks`, rateLimit: true });
const server = Hapi.server({ port: Number(PORT), host: 'localhost' });
await server.register(Jwt);
server.auth.strategy('signet', 'jwt', {
  keys: async ({ decoded: { header } }) => {
    try {
      const key = await keys.getSigningKey(header.kid);
      return { key: key.getPublicKey(), algorithms: [key.alg] };
    } catch (error) {
      // Without a key the token is refused.
      if (error.name !== 'SigningKeyNotFoundError') throw error;
    }
  },
  verify: { iss: ISSUER, aud: API, sub: false },
  validate: ({ decoded: { header, payload } }) => ({
    isValid: Boolean(header.typ === 'at+jwt' && payload.exp && payload.sub && payload.client_id),
    credentials: { ...payload, scope: payload.scope?.split(' ') },
  }),
});
server.route({
  method: 'GET',
  path: '/',
  options: { auth: { strategy: 'signet', scope: SCOPE } },
  handler: ({ auth }) => ({ user: auth.credentials.sub }),
});

await server.start();
console.log(`Service B listens on port ${server.info.port}.`);
