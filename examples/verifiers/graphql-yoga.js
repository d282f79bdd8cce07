// Service B as a GraphQL API, with Yoga and @graphql-yoga/plugin-jwt. It answers queries by GET and POST.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import {
  createRemoteJwksSigningKeyProvider,
  extractFromHeader,
  useJWT,
} from '@graphql-yoga/plugin-jwt';
import { GraphQLError } from 'graphql';
import { createSchema, createYoga } from 'graphql-yoga';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;

const keys = createRemoteJwksSigningKeyProvider({ jwksUri: `${ISSUER}/jwks` });
// A key that fits nothing: an unknown one would be an error 500.
const nobody = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
  type: 'spki',
  format: 'pem',
});
const refuse = (message, status) => {
  throw new GraphQLError(message, { extensions: { http: { status } } });
};

const yoga = createYoga({
  graphqlEndpoint: '/',
  schema: createSchema({
    typeDefs: 'type Query { user: ID! }',
    resolvers: { Query: { user: (_parent, _args, { jwt }) => jwt.payload.payload.sub } },
  }),
  plugins: [
    useJWT({
      signingKeyProviders: [
        (kid) =>
          keys(kid).catch((error) => {
            if (error.name === 'SigningKeyNotFoundError') return nobody;
            throw error;
          }),
      ],
      // These replace the default as a whole. The algorithms are the values of SIGNING_ALG that you have used; EdDSA
      // cannot be among them. Without `complete` nobody sees the header, and so the type.
      tokenVerification: {
        algorithms: ['ES256', 'ES384', 'PS256', 'RS256'],
        issuer: ISSUER,
        audience: API,
        complete: true,
      },
      tokenLookupLocations: [extractFromHeader({ name: 'authorization', prefix: 'Bearer' })],
    }),
    {
      onContextBuilding({ context: { jwt } }) {
        const { header, payload } = jwt?.payload ?? {};
        const isAccessToken =
          header?.typ === 'at+jwt' && payload.exp && payload.sub && payload.client_id;
        if (!isAccessToken) refuse('Unauthenticated', 401);
        if (!payload.scope?.split(' ').includes(SCOPE)) refuse('Forbidden', 403);
      },
    },
  ],
});

const server = createServer(yoga);
server.listen(Number(PORT), 'localhost', () => {
  console.log(`Service B listens on port ${server.address().port}.`);
});
