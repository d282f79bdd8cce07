import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { KeptUse } from './kept-uses.ts';
import type { Purpose } from './sealed-columns.ts';

const ivLength = 12;
const tagLength = 16;
const nameLength = 8;

/** What a secret signs that no table holds: cookies, forms, dry runs, nonces. It is soon worth nothing. */
type PassingUse = 'cookies' | 'sign-in-form' | 'device-cookie' | 'trial' | 'dpop-nonce';

/** What `SIGNET_SECRET` and `SIGNET_SECRET_PREVIOUS` encrypt and sign. */
export interface Sealing {
  /**
   * Encrypts with the first secret.
   *
   * @param purpose The kind and the owner of the value, such as `signing-key:key_…`. A value moved to another row does
   * not decrypt there.
   */
  encrypt(plaintext: string, purpose: Purpose): Uint8Array<ArrayBuffer>;
  /**
   * Decrypts what either secret encrypted.
   *
   * @throws when the value was made under another secret or for another purpose, or was changed.
   */
  decrypt(ciphertext: Uint8Array, purpose: Purpose): string;
  /** Derives the keys for a use, one for each secret. The first signs, each verifies. */
  passingKeys(use: PassingUse): readonly [Buffer, ...Buffer[]];
  /** The first secret. */
  readonly first: SecretName;
  /** The secret of before, or the coming one; absent: there is but one. */
  readonly previous: SecretName | undefined;
  /** Which secret a value was encrypted with; undefined: with none of both, or it was changed. */
  secretOf(ciphertext: Uint8Array, purpose: Purpose): SecretName | undefined;
  /** The key that the version before derived from a secret for a use that has a kept key now. */
  keyOfVersionBefore(use: KeptUse, secret: SecretName): Buffer;
}

/** Names a secret, and reveals nothing about it. */
export interface SecretName {
  /** What a ciphertext under it begins with, if it names its secret. */
  readonly prefix: Uint8Array<ArrayBuffer>;
  /** The same, as text. */
  readonly id: string;
}

/** Encrypts, decrypts and signs with keys that come from the secrets, or that the database keeps encrypted. */
export interface Cipher extends Sealing {
  /** The key for digests that outlive a secret. It stays the same when the secret changes. */
  keptKey(use: KeptUse): Buffer;
}

interface Key {
  readonly name: SecretName;
  readonly derive: (use: string) => Buffer;
  readonly encrypt: (plaintext: string, purpose: string) => Buffer;
  readonly decrypt: (ciphertext: Uint8Array, purpose: string) => string;
}

/** AES-256-GCM with a random 96-bit nonce (NIST SP 800-38D §8.2.2) and a key from HKDF (RFC 5869). */
function keyOf(secret: string): Key {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret, '', `signet:${use}`, 32));
  const key = derive('secrets-at-rest');
  const prefix = new Uint8Array(derive('name').subarray(0, nameLength));
  return {
    name: { prefix, id: Buffer.from(prefix).toString('hex') },
    derive,
    encrypt(plaintext, purpose) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]);
    },
    decrypt(ciphertext, purpose) {
      const iv = ciphertext.subarray(0, ivLength);
      const tag = ciphertext.subarray(ivLength, ivLength + tagLength);
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagLength })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(tag);
      const body = decipher.update(ciphertext.subarray(ivLength + tagLength));
      return Buffer.concat([body, decipher.final()]).toString('utf8');
    },
  };
}

/**
 * The sealing of a secret, and of the one before it or to come.
 *
 * With two secrets a ciphertext begins with the name of its own, so that what is left of the other is found without
 * decrypting. With one there is nothing to tell apart, and a node of the version before, which knows no names, reads
 * what this one writes.
 */
export function createSealing(secret: string, previousSecret?: string): Sealing {
  const first = keyOf(secret);
  const previous = previousSecret === undefined ? undefined : keyOf(previousSecret);
  const keys = [first, ...(previous ? [previous] : [])];

  function open(ciphertext: Uint8Array, purpose: string): { by: Key; plaintext: string } {
    let fault: unknown;
    // A random nonce may look like a name once in 2^64: then the other reading is right.
    for (const skipped of [nameLength, 0]) {
      for (const by of keys) {
        const { prefix } = by.name;
        if (skipped > 0 && Buffer.compare(ciphertext.subarray(0, nameLength), prefix) !== 0)
          continue;
        try {
          return { by, plaintext: by.decrypt(ciphertext.subarray(skipped), purpose) };
        } catch (error) {
          fault ??= error;
        }
      }
    }
    throw fault;
  }

  return {
    first: first.name,
    previous: previous?.name,
    encrypt(plaintext, purpose) {
      const sealed = first.encrypt(plaintext, purpose);
      return new Uint8Array(previous ? Buffer.concat([first.name.prefix, sealed]) : sealed);
    },
    decrypt: (ciphertext, purpose) => open(ciphertext, purpose).plaintext,
    passingKeys: (use) => [first.derive(use), ...(previous ? [previous.derive(use)] : [])],
    secretOf(ciphertext, purpose) {
      try {
        return open(ciphertext, purpose).by.name;
      } catch {
        return undefined;
      }
    },
    keyOfVersionBefore(use, { id }) {
      const by = keys.find(({ name }) => name.id === id);
      if (!by) throw new Error('The secret is not one of both.');
      return by.derive(use);
    },
  };
}
