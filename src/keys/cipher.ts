import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ivLength = 12;
const tagLength = 16;

/** Encrypts values that must be read again, with a key derived from `SIGNET_SECRET`. */
export interface Cipher {
  /**
   * @param purpose The kind and the owner of the value, such as `signing-key:key_…`. A value moved to another row does
   * not decrypt there.
   */
  encrypt(plaintext: string, purpose: string): Uint8Array<ArrayBuffer>;
  /** @throws when the value was made under another secret or for another purpose, or was changed. */
  decrypt(ciphertext: Uint8Array, purpose: string): string;
  /** Derives a key for another use, such as signing cookies. It reveals nothing about this cipher's key. */
  deriveKey(use: string): Buffer;
}

/** AES-256-GCM with a random 96-bit nonce (NIST SP 800-38D §8.2.2) and a key from HKDF (RFC 5869). */
export function createCipher(secret: string): Cipher {
  const deriveKey = (use: string) =>
    Buffer.from(hkdfSync('sha256', secret, '', `signet:${use}`, 32));
  const key = deriveKey('secrets-at-rest');
  return {
    encrypt(plaintext, purpose) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([iv, cipher.getAuthTag(), body]));
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
    deriveKey,
  };
}
