// Service B with Hono. Its middleware reads the key set for each request if it has the address alone, so here are keys
// that are kept.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { jwk } from 'hono/jwk';

const { ISSUER, API, SCOPE, PORT = '4000' } = process.env;
const keptForMs = 600_000;
const leastBetweenMs = 5_000;

let kept = [];
let readAt = 0;
/** The key set, read again if it is old or does not have the key, but not for each token of a stranger. */
async function keys(c) {
  const [, header = ''] = (c.req.header('authorization') ?? '').split(/[ .]/);
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString() || '{}');
  const age = Date.now() - readAt;
  const isUnknown = !kept.some((key) => key.kid === kid);
  if (age > keptForMs || (isUnknown && age > leastBetweenMs)) {
    readAt = Date.now();
    ({ keys: kept } = await (await fetch(`${ISSUER}/jwks`)).json());
  }
  return kept;
}

const app = new Hono();
app.use(
  jwk({
    keys,
    alg: ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256'],
    verification: {
      // Without it ID tokens are taken, and access tokens are not.
      typ: 'at+jwt',
      iss: ISSUER,
      aud: API,
      // A clock that is a second behind would refuse each new token.
      iat: false,
    },
  }),
);
app.get('/', (c) => {
  const claims = c.get('jwtPayload');
  if (!claims.exp || !claims.sub || !claims.client_id) return c.text('', 401);
  return claims.scope?.split(' ').includes(SCOPE) ? c.json({ user: claims.sub }) : c.text('', 403);
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, ({ port }) => {
  console.log(`Service B listens on port ${port}.`);
});
