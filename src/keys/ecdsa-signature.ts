// What stands before the numbers, and before each (X.690 §8.9, §8.3). The lengths of all that is here are one byte.
const sequence = 0x30;
const integer = 0x02;

/**
 * The form in which a JWS has an ECDSA signature: its two numbers, one after the other (RFC 7518 §3.4).
 *
 * @param der The form that OpenSSL makes (RFC 3279 §2.2.3).
 * @param size Of each number, in bytes.
 */
export function jwsForm(der: Uint8Array, size: number): Buffer {
  const signature = Buffer.alloc(2 * size);
  let at = 2;
  for (const end of [size, 2 * size]) {
    const from = at + 2;
    at = from + (der[at + 1] ?? 0);
    // There may be a zero more than fits, so that the number is not negative, or fewer bytes.
    const number = der.subarray(Math.max(from, at - size), at);
    signature.set(number, end - number.length);
  }
  return signature;
}

/**
 * The form in which OpenSSL reads an ECDSA signature, see {@link jwsForm}; undefined if the signature has another
 * length than two numbers of that size.
 */
export function derForm(signature: Uint8Array, size: number): Buffer | undefined {
  if (signature.length !== 2 * size) return undefined;
  const numbers = [signature.subarray(0, size), signature.subarray(size)].map(integerOf);
  return Buffer.concat([Uint8Array.of(sequence, totalLength(numbers)), ...numbers]);
}

function integerOf(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(first < 0 ? -1 : first);
  const sign = (digits[0] ?? 0) < 0x80 ? [] : [0];
  return Buffer.concat([Uint8Array.of(integer, sign.length + digits.length, ...sign), digits]);
}

const totalLength = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0);
