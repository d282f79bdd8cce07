import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { AccessTokenClaims } from '../../../src/auth/access-token.ts';
import { signCompact } from '../../../src/keys/compact-jws.ts';
import type { SigningKeys } from '../../../src/keys/signing-keys.ts';
import { type Gen, numberBelow, pick, rarely, several } from './fuzz.ts';
import { damaged, flipped, hostileJson, hostileText } from './values.ts';

type Json = Record<string, unknown>;

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json;
const partsOf = (token: string) => token.split('.') as [string, string, string];

const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const strangerJwk = stranger.publicKey.export({ format: 'jwk' });

const headers: readonly Json[] = [
  { alg: 'none' },
  { alg: 'NONE' },
  { alg: 'HS256' },
  { alg: 'RS256' },
  { alg: 'ES256', jwk: strangerJwk },
  { jwk: strangerJwk, kid: undefined },
  { jku: 'http://127.0.0.1:9/keys', x5u: 'http://127.0.0.1:9/' },
  { crit: ['exp'] },
  { crit: [] },
  { b64: false, crit: ['b64'] },
  { zip: 'DEF' },
  { typ: 'JWT' },
  { typ: 'logout+jwt' },
  { kid: '../../../dev/null' },
  { kid: "' OR 1=1 --" },
  { kid: '\0' },
  { kid: ['a'] },
  { enc: 'A256GCM', alg: 'dir' },
];

/** A token that this service did not make: whoever accepts it is wrong. */
export function forged(g: Gen, token: string, publicKey: string): string {
  const [header, payload, signature] = partsOf(token);
  switch (numberBelow(g, 8)) {
    case 0: {
      const changed = { ...decoded(header), ...pick(g, headers) };
      const signed = `${encoded(changed)}.${payload}`;
      const mac = createHmac('sha256', publicKey).update(signed).digest('base64url');
      const own = sign('sha256', Buffer.from(signed), {
        key: stranger.privateKey,
        dsaEncoding: 'ieee-p1363',
      });
      return `${signed}.${pick(g, ['', mac, own.toString('base64url'), signature])}`;
    }
    case 1: {
      const name = rarely(g, 3) ? hostileText(g) : pick(g, ['alg', 'kid', 'typ', 'crit', 'jwk']);
      return `${encoded({ ...decoded(header), [name]: hostileJson(g), fuzz: 1 })}.${payload}.${signature}`;
    }
    case 2:
      return `${header}.${encoded({ ...decoded(payload), scope: 'all', fuzz: hostileJson(g) })}.${signature}`;
    case 3:
      return `${header}.${payload}.${flipped(g, Buffer.from(signature, 'base64url')).toString('base64url')}`;
    case 4:
      return `${header}.${payload}.${pick(g, ['', 'AA', 'A'.repeat(86), 'A'.repeat(5000), '='])}`;
    case 5:
      return pick(g, [
        `${header}.${payload}`,
        `${header}.${payload}.${signature}.${signature}.${signature}`,
        `.${payload}.${signature}`,
        `${header}..${signature}`,
        '..',
        `${token}.`,
        `${encoded([])}.${encoded([])}.${signature}`,
        `${encoded(null)}.${encoded(null)}.`,
        `${'A'.repeat(4000)}.${payload}.${signature}`,
      ]);
    case 6:
      return `${Buffer.from(hostileText(g)).toString('base64url')}.${Buffer.from(hostileText(g)).toString('base64url')}.${signature}`;
    default: {
      const changed = damaged(g, token);
      // The last character's spare bits, and padding, are the same signature.
      const parts = changed.split('.');
      const isSame =
        parts.length === 3 &&
        parts[0] === header &&
        parts[1] === payload &&
        Buffer.from(String(parts[2]), 'base64url').equals(Buffer.from(signature, 'base64url'));
      return isSame || changed.trim() === token ? '..' : changed;
    }
  }
}

const claimNames = [
  'iss',
  'sub',
  'aud',
  'client_id',
  'scope',
  'iat',
  'exp',
  'nbf',
  'jti',
  'act',
  'lineage',
  'organization_id',
  'sid',
  'may_act',
  'cnf',
  'auth_time',
];

// Signet signs no NUL, and only the claims that every token must have are checked for their type.
const withoutNul = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', ''));

function claimOf(g: Gen, name: string): unknown {
  switch (name) {
    case 'lineage':
      return withoutNul(several(g, 3, () => hostileText(g)));
    case 'act':
      return withoutNul({ sub: hostileText(g), act: { sub: hostileText(g) } });
    case 'scope':
    case 'organization_id':
      return withoutNul(hostileText(g));
    default:
      return withoutNul(hostileJson(g));
  }
}

/** A token that the service's own key has signed, with hostile claims. */
export async function odd(g: Gen, token: string, keys: SigningKeys): Promise<string> {
  const [header, payload] = partsOf(token);
  const claims: Json = decoded(payload);
  for (let left = 1 + numberBelow(g, 2); left > 0; left -= 1) {
    const name = pick(g, claimNames);
    if (rarely(g, 6)) delete claims[name];
    else claims[name] = claimOf(g, name);
  }
  const { algorithm, kid, privateKey } = keys.current();
  return signCompact(
    { algorithm, key: privateKey },
    { ...decoded(header), alg: algorithm, kid } as never,
    claims as unknown as AccessTokenClaims,
  );
}
