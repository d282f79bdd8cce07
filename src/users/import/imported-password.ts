import {
  createCipheriv,
  createHash,
  createHmac,
  pbkdf2,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { respelled } from './respelled.ts';

const derivePbkdf2 = promisify(pbkdf2);
const deriveScrypt = promisify<string, Buffer, number, object, Buffer>(scrypt);

/**
 * The algorithms that passwords can be imported in, and the formats of their digests. `salt` and `hash` are Base64,
 * with or without padding; passlib's "." for "+" is accepted.
 */
export const importedPasswordFormats = {
  Argon2i: '$argon2i$v=19$m=65536,t=3,p=4$salt$hash',
  Argon2d: '$argon2d$v=19$m=65536,t=3,p=4$salt$hash',
  Argon2id:
    '$argon2id$v=19$m=65536,t=3,p=4$salt$hash, or argon2$argon2id$v=19$m=102400,t=2,p=8$salt$hash (Django; also argon2i and argon2d)',
  Bcrypt:
    '$2b$10$ and 53 characters; also 2a and 2y, and after $wp (WordPress), bcrypt$ or bcrypt_sha256$ (Django)',
  PBKDF2:
    '$pbkdf2-sha256$i=600000$salt$hash, $pbkdf2-sha256$29000$salt$hash (passlib), or pbkdf2_sha256$260000$salt$hash (Django, whose salt is text); also sha1 and sha512; or Base64 that begins with AQAAAA (ASP.NET Core Identity 3)',
  Scrypt:
    '$scrypt$ln=14,r=8,p=1$salt$hash, or $firescrypt$ln=14,r=8,p=1$salt$hash$separator$key (Firebase; ln is its mem_cost, r its rounds, then its salt separator and signer key)',
  MD5: '{SMD5} and Base64 of digest and salt (LDAP; the password comes before the salt), md5$salt$hex (Django; the salt is text and comes before the password), or hex without a salt',
  SHA1: '{SSHA}, sha1$salt$hex, or hex, as with MD5',
  SHA256: '{SSHA256}, sha256$salt$hex, or hex, as with MD5',
  SHA512: '{SSHA512}, sha512$salt$hex, or hex, as with MD5',
} as const;

/** An algorithm that passwords can be imported in. */
export type ImportedPasswordAlgorithm = keyof typeof importedPasswordFormats;

/** Every algorithm that passwords can be imported in. */
export const importedPasswordAlgorithms = Object.keys(
  importedPasswordFormats,
) as ImportedPasswordAlgorithm[];

const six = '[A-Za-z0-9+/.]';
const base64 = `(?:${six}{4})*(?:${six}{4}|${six}{3}=?|${six}{2}(?:==)?)`;
const phc = (id: string, parameters: string) =>
  new RegExp(`^\\$${id}\\$${parameters}\\$(?<salt>${base64})\\$(?<hash>${base64})$`);

const argon2 = phc(
  'argon2(?<variant>id|i|d)',
  '(?:v=(?<v>16|19)\\$)?m=(?<m>\\d+),t=(?<t>\\d+),p=(?<p>\\d+)',
);
const bcrypt =
  /^(?<before>\$wp|bcrypt_sha256\$)?(?<own>\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53})$/;
const pbkdf2Phc = phc('pbkdf2(?:-(?<prf>sha1|sha256|sha512))?', '(?:i=)?(?<i>\\d+)(?:,l=\\d+)?');
const pbkdf2Django = new RegExp(
  `^pbkdf2_(?<prf>sha1|sha256|sha512)\\$(?<i>\\d+)\\$(?<salt>[^$]+)\\$(?<hash>${base64})$`,
);
const scryptCosts = 'ln=(?<ln>\\d+),r=(?<r>\\d+),p=(?<p>\\d+)';
const scryptPhc = phc('scrypt', scryptCosts);
// Firebase spells Base64 in both alphabets, by the tool that exports.
const either = '[A-Za-z0-9+/_-]';
const scryptFirebase = new RegExp(
  `^\\$firescrypt\\$${scryptCosts}\\$(?<salt>${either}+={0,2})\\$(?<hash>${either}+={0,2})\\$(?<separator>${either}*={0,2})\\$(?<key>${either}+={0,2})$`,
);
const ldap = new RegExp(`^\\{(?<scheme>[A-Z0-9]+)\\}(?<hash>${base64})$`);
const salted = /^(?<hash>md5|sha1|sha256|sha512)\$(?<salt>[^$]*)\$(?<hex>[0-9a-f]+)$/i;

const legacy = {
  MD5: { hash: 'md5', length: 16, schemes: ['SMD5', 'MD5'] },
  SHA1: { hash: 'sha1', length: 20, schemes: ['SSHA', 'SHA'] },
  SHA256: { hash: 'sha256', length: 32, schemes: ['SSHA256', 'SHA256'] },
  SHA512: { hash: 'sha512', length: 64, schemes: ['SSHA512', 'SHA512'] },
} as const;

const within = (value: string | undefined, least: number, most: number) =>
  Number(value) >= least && Number(value) <= most;

const decode = (text: string | undefined) =>
  Buffer.from((text ?? '').replaceAll('.', '+'), 'base64');

// Base64 without padding.
const respell = (text: string | undefined) => decode(text).toString('base64').replaceAll('=', '');

/** The algorithm of that name, ignoring case and punctuation: `SHA-256` is `SHA256`. */
export const findPasswordAlgorithm = (name: string): ImportedPasswordAlgorithm | undefined =>
  importedPasswordAlgorithms.find((known) => lettersOf(known) === lettersOf(name));

const lettersOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * The stored form of another system's digest: text that contains its own parameters. Undefined if it is not a digest of
 * that algorithm.
 */
export function readImportedDigest(
  algorithm: ImportedPasswordAlgorithm,
  given: string,
): string | undefined {
  const digest = respelled(given);
  switch (algorithm) {
    case 'Argon2i':
    case 'Argon2d':
    case 'Argon2id': {
      // The first version of the format did not name its version.
      const { variant, v = '16', m, t, p, salt, hash } = argon2.exec(digest)?.groups ?? {};
      const isFitting =
        `argon2${variant}` === algorithm.toLowerCase() &&
        within(t, 1, Number.MAX_SAFE_INTEGER) &&
        within(p, 1, Number.MAX_SAFE_INTEGER) &&
        // RFC 9106 §3.1
        within(m, 8 * Number(p), Number.MAX_SAFE_INTEGER) &&
        within(`${decode(salt).length}`, 8, 128) &&
        within(`${decode(hash).length}`, 16, 128);
      // In the only spelling that the library reads.
      return isFitting
        ? `$argon2${variant}$v=${v}$m=${Number(m)},t=${Number(t)},p=${Number(p)}$${respell(salt)}$${respell(hash)}`
        : undefined;
    }
    case 'Bcrypt':
      return within(bcrypt.exec(digest)?.groups?.['cost'], 4, 31) ? digest : undefined;
    case 'PBKDF2': {
      const { i, hash } = readPbkdf2(digest) ?? {};
      return within(i, 1, Number.MAX_SAFE_INTEGER) && within(`${hash?.length}`, 16, 128)
        ? digest
        : undefined;
    }
    case 'Scrypt': {
      const { ln, r, p, hash, key } = groupsOfScrypt(digest) ?? {};
      const isFitting =
        within(ln, 1, 63) &&
        within(r, 1, Number.MAX_SAFE_INTEGER) &&
        // RFC 7914 §2
        Number(ln) < 16 * Number(r) &&
        within(p, 1, Number.MAX_SAFE_INTEGER) &&
        decode(hash).length >= 16 &&
        // Firebase's is the key, encrypted.
        (key === undefined || decode(key).length === decode(hash).length);
      return isFitting ? digest : undefined;
    }
    default:
      return readLegacy(algorithm, digest);
  }
}

function readLegacy(algorithm: keyof typeof legacy, digest: string): string | undefined {
  const { hash, length, schemes } = legacy[algorithm];
  const [saltedScheme, plainScheme] = schemes;
  const ofLdap = ldap.exec(digest)?.groups;
  if (ofLdap) {
    const size = decode(ofLdap['hash']).length;
    if (ofLdap['scheme'] === saltedScheme && size > length) return digest;
    return ofLdap['scheme'] === plainScheme && size === length ? digest : undefined;
  }
  const ofDjango = salted.exec(digest)?.groups;
  if (ofDjango) {
    const isFitting =
      ofDjango['hash']?.toLowerCase() === hash && ofDjango['hex']?.length === length * 2;
    return isFitting ? digest : undefined;
  }
  return /^[0-9a-f]+$/i.test(digest) && digest.length === length * 2
    ? `{${plainScheme}}${Buffer.from(digest, 'hex').toString('base64')}`
    : undefined;
}

function readPbkdf2(digest: string) {
  const ofPhc = pbkdf2Phc.exec(digest)?.groups;
  const ofDjango = pbkdf2Django.exec(digest)?.groups;
  const { prf = 'sha1', i, salt, hash } = ofPhc ?? ofDjango ?? {};
  if (i === undefined || salt === undefined) return undefined;
  return { prf, i, salt: ofPhc ? decode(salt) : Buffer.from(salt), hash: decode(hash) };
}

const groupsOfScrypt = (digest: string) =>
  scryptPhc.exec(digest)?.groups ?? scryptFirebase.exec(digest)?.groups;

/** What bcrypt, which reads 72 bytes, gets of a password: two systems hash it first. */
function beforeBcrypt(system: string | undefined, password: string): string {
  switch (system) {
    case '$wp': {
      // As PHP's trim leaves it.
      const trimmed = password.replaceAll(/^[ \t\n\r\0\v]+|[ \t\n\r\0\v]+$/g, '');
      return createHmac('sha384', 'wp-sha384').update(trimmed).digest('base64');
    }
    case 'bcrypt_sha256$':
      return createHash('sha256').update(password).digest('hex');
    default:
      return password;
  }
}

/** The work that a digest requires. */
export type DigestParameters =
  | { readonly kind: 'argon2'; readonly m: number; readonly t: number; readonly p: number }
  | { readonly kind: 'bcrypt'; readonly cost: number }
  | { readonly kind: 'pbkdf2'; readonly prf: keyof typeof prfBytes; readonly iterations: number }
  | { readonly kind: 'scrypt'; readonly N: number; readonly r: number; readonly p: number }
  | { readonly kind: 'hash' };

const prfBytes = { sha1: 20, sha256: 32, sha512: 64 };

/** The work that a digest from {@link readImportedDigest} requires. */
export function parametersOf(digest: string): DigestParameters {
  const { m, t, p } = argon2.exec(digest)?.groups ?? {};
  if (m) return { kind: 'argon2', m: Number(m), t: Number(t), p: Number(p) };
  const { cost } = bcrypt.exec(digest)?.groups ?? {};
  if (cost) return { kind: 'bcrypt', cost: Number(cost) };
  const ofPbkdf2 = readPbkdf2(digest);
  if (ofPbkdf2) {
    const prf = ofPbkdf2.prf as keyof typeof prfBytes;
    // Each block of the hash takes all iterations (RFC 8018 §5.2).
    const blocks = Math.ceil(ofPbkdf2.hash.length / prfBytes[prf]);
    return { kind: 'pbkdf2', prf, iterations: Number(ofPbkdf2.i) * blocks };
  }
  const ofScrypt = groupsOfScrypt(digest);
  if (!ofScrypt) return { kind: 'hash' };
  const { ln, r, p: lanes } = ofScrypt;
  return { kind: 'scrypt', N: 2 ** Number(ln), r: Number(r), p: Number(lanes) };
}

/** Whether a password matches a digest from {@link readImportedDigest}. */
export async function verifyImportedPassword(digest: string, password: string): Promise<boolean> {
  if (argon2.test(digest)) return verifyArgon2(digest, password);
  const ofBcrypt = bcrypt.exec(digest)?.groups;
  if (ofBcrypt) {
    const { before, own = '' } = ofBcrypt;
    return verifyBcrypt(beforeBcrypt(before, password), own);
  }
  const ofPbkdf2 = readPbkdf2(digest);
  if (ofPbkdf2) {
    const { prf, i, salt, hash } = ofPbkdf2;
    return isEqual(hash, await derivePbkdf2(password, salt, Number(i), hash.length, prf));
  }
  const ofScrypt = groupsOfScrypt(digest);
  if (ofScrypt) {
    const [N, r, p] = [2 ** Number(ofScrypt['ln']), Number(ofScrypt['r']), Number(ofScrypt['p'])];
    const [salt, hash] = [decode(ofScrypt['salt']), decode(ofScrypt['hash'])];
    const options = { N, r, p, maxmem: 256 * N * r + 1024 * r * p };
    const { separator, key } = ofScrypt;
    if (key === undefined)
      return isEqual(hash, await deriveScrypt(password, salt, hash.length, options));
    const whole = Buffer.concat([salt, decode(separator)]);
    const secret = await deriveScrypt(password, whole, 32, options);
    return isEqual(
      hash,
      createCipheriv('aes-256-ctr', secret, Buffer.alloc(16)).update(decode(key)),
    );
  }
  return verifyLegacy(digest, password);
}

function verifyLegacy(digest: string, password: string): boolean {
  const ofDjango = salted.exec(digest)?.groups;
  if (ofDjango) {
    const { hash = '', salt = '', hex = '' } = ofDjango;
    return isEqual(
      Buffer.from(hex, 'hex'),
      createHash(hash.toLowerCase()).update(salt).update(password).digest(),
    );
  }
  const { scheme, hash: encoded } = ldap.exec(digest)?.groups ?? {};
  const of = Object.values(legacy).find(({ schemes }) =>
    (schemes as readonly (string | undefined)[]).includes(scheme),
  );
  if (!of) throw new Error('A password digest is in no known format.');
  const stored = decode(encoded);
  const salt = stored.subarray(of.length);
  return isEqual(
    stored.subarray(0, of.length),
    createHash(of.hash).update(password).update(salt).digest(),
  );
}

const isEqual = (expected: Buffer, actual: Buffer) =>
  expected.length === actual.length && timingSafeEqual(expected, actual);
