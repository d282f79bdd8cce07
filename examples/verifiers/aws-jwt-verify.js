// Service B with aws-jwt-verify. It keeps a key that it has seen: after a key is deleted, restart, or call `hydrate()`.
import { createServer } from 'node:http';
import { JwtVerifier } from 'aws-jwt-verify';
import { JwtInvalidScopeError } from 'aws-jwt-verify/error';
import { SimpleJwksCache } from 'aws-jwt-verify/jwk';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const verifier = JwtVerifier.create(
  {
    issuer: ISSUER,
    audience: API,
    scope: SCOPE,
    jwksUri: `${ISSUER}/jwks`,
    customJwtCheck: ({ header, payload }) => {
      if (header.typ !== 'at+jwt' || !payload.exp || !payload.sub || !payload.client_id) {
        throw new Error('not an access token');
      }
    },
  },
  // Its own fetcher knows https alone. Where the issuer is https, leave this out.
  {
    jwksCache: new SimpleJwksCache({
      fetcher: { fetch: async (url) => (await fetch(url)).arrayBuffer() },
    }),
  },
);

const server = createServer(async (request, response) => {
  const [, token = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  try {
    const claims = await verifier.verify(token);
    response.writeHead(200).end(JSON.stringify({ user: claims.sub }));
  } catch (error) {
    response.writeHead(error instanceof JwtInvalidScopeError ? 403 : 401).end();
  }
});
server.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
