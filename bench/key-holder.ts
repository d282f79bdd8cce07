import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import type { Load } from './server.ts';

/** A client that authenticates by its key, and the holders of bound tokens. It signs without waiting. */
export function createHolder({ url, path, keys }: Load) {
  if (!keys) throw new Error('The server has announced no client with keys.');
  const assertionKey = createPrivateKey({ key: keys.privateJwk, format: 'jwk' });
  // As many as there are users, so that no key is the only one.
  const holders = Array.from({ length: 100 }, () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
    return { privateKey, header: { alg: 'ES256', typ: 'dpop+jwt', jwk: { kty, crv, x, y } } };
  });
  const { clientId, audience, kid } = keys;
  const tokenUrl = `${keys.baseUrl ?? url}${path}`;
  let count = 0;
  return {
    /** The headers and the body of an exchange, by the parameters of one without a client. */
    request(body: string): { headers: Record<string, string>; body: string } {
      count += 1;
      const holder = holders[count % holders.length];
      if (!holder) throw new Error('There are holders.');
      const iat = Math.floor(Date.now() / 1000);
      const about = { iss: clientId, sub: clientId, aud: audience };
      const assertion = jwtOf(
        { alg: 'ES256', kid },
        { ...about, iat, exp: iat + 60, jti: randomUUID() },
        assertionKey,
      );
      const proof = { jti: randomUUID(), htm: 'POST', htu: tokenUrl, iat };
      const parameters = new URLSearchParams({
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      });
      return {
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          dpop: jwtOf(holder.header, proof, holder.privateKey),
        },
        body: `${body}&${parameters}`,
      };
    },
  };
}

function jwtOf(header: object, claims: object, key: KeyObject): string {
  const encoded = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const input = encoded.join('.');
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}
