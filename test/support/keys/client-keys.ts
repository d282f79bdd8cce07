import { randomUUID } from 'node:crypto';
import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairOptions,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import type { TestService } from '../service.ts';

/** A key pair of a client. */
export interface ClientKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Makes a key pair of a client. */
export async function createClientKey(
  alg = 'ES256',
  options: GenerateKeyPairOptions = {},
): Promise<ClientKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, options);
  const kid = randomUUID();
  return { alg, kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid } };
}

/** Signs an assertion of a client (RFC 7523 §2.2); the given claims and header fields replace the usual ones. */
export function signAssertion(
  service: Pick<TestService, 'app' | 'clock'>,
  clientId: string,
  key: Pick<ClientKey, 'alg' | 'privateKey'> & Partial<Pick<ClientKey, 'kid'>>,
  claims: Partial<Record<keyof JWTPayload, unknown>> = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const now = Math.floor(service.clock.now().getTime() / 1000);
  const all = {
    iss: clientId,
    sub: clientId,
    aud: service.app.services.issuer,
    iat: now,
    exp: now + 60,
    jti: randomUUID(),
    ...claims,
  };
  const named = key.kid === undefined ? {} : { kid: key.kid };
  return new SignJWT(all as JWTPayload)
    .setProtectedHeader({ alg: key.alg, ...named, ...header })
    .sign(key.privateKey);
}

/** The parameters with which a client authenticates by an assertion. */
export const assertionParameters = (assertion: string) => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: assertion,
});
