import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { closeAtEnd } from '../cleanup.ts';
import type { TestService } from '../service.ts';
import { type ClientKey, createClientKey } from './client-keys.ts';

/** The `grant_type` of an assertion (RFC 7523 §2.1). */
export const assertionGrantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** What an assertion says instead of the usual, how its header does, and who signs it. */
export interface Spoken {
  readonly claims?: Record<string, unknown>;
  readonly header?: Partial<JWTHeaderParameters>;
  readonly by?: Pick<ClientKey, 'alg' | 'privateKey'> & { readonly kid?: string | undefined };
}

/** Starts somebody else's issuer: a pipeline's, a cluster's, an identity provider's. It publishes its keys by HTTP. */
export async function startForeignIssuer(service: Pick<TestService, 'app' | 'clock'>) {
  const key = await createClientKey('RS256', { extractable: true });
  const published = [key.publicJwk];
  let fetched = 0;
  const server = createServer((_request, response) => {
    fetched += 1;
    response
      .writeHead(200, { 'content-type': 'application/jwk-set+json' })
      .end(JSON.stringify({ keys: published }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const now = () => Math.floor(service.clock.now().getTime() / 1000);

  const sign = (
    usual: Record<string, unknown>,
    typ: string,
    { claims, header, by = key }: Spoken,
  ) =>
    new SignJWT({
      iss: issuer,
      aud: service.app.services.issuer,
      iat: now(),
      exp: now() + 120,
      jti: randomUUID(),
      ...usual,
      ...claims,
    } as JWTPayload)
      .setProtectedHeader({
        alg: by.alg,
        ...(by.kid === undefined ? {} : { kid: by.kid }),
        typ,
        ...header,
      })
      .sign(by.privateKey);

  return {
    issuer,
    jwksUri: `${issuer}/jwks`,
    key,
    /** The keys that it publishes: a test may change the list. */
    published,
    fetched: () => fetched,
    now,
    /** Signs what a pipeline gets, as GitHub Actions do. */
    signWorkload: (spoken: Spoken = {}) =>
      sign(
        { sub: 'repo:acme/shop:ref:refs/heads/main', repository: 'acme/shop', run_attempt: 1 },
        'JWT',
        spoken,
      ),
    /** Signs an identity assertion about a person, for a client. */
    signIdentity: (subject: string, clientId: string, spoken: Spoken = {}) =>
      sign({ sub: subject, client_id: clientId }, 'oauth-id-jag+jwt', spoken),
  };
}
