import { z } from 'zod';
import { parseInput, text } from '../../input.ts';

/** The longest credential id, in bytes (WebAuthn Level 3 §4, credential id). */
const maxCredentialIdBytes = 1023;

const base64url = (maxBytes: number) =>
  text(Math.ceil((maxBytes * 4) / 3))
    .min(1, 'must not be empty')
    .regex(/^[\w-]+$/, 'must be base64url without padding');

const credential = {
  id: base64url(maxCredentialIdBytes),
  rawId: base64url(maxCredentialIdBytes),
  type: z.literal('public-key'),
};

// Other fields are dropped: browsers send more than is used.
const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(4096),
    attestationObject: base64url(16_384),
    // The list of §5.8.4 is open: unknown ones are kept as they are.
    transports: z.array(text(32)).max(10, 'must have at most 10 entries').optional(),
  }),
});

const authentication = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(4096),
    authenticatorData: base64url(4096),
    signature: base64url(4096),
    userHandle: base64url(64).nullish(),
  }),
});

/** The response of an authenticator that made a passkey (`RegistrationResponseJSON`, WebAuthn Level 3 §5.1.8.1). */
export type RegistrationResponse = z.output<typeof registration>;

/** The response of an authenticator that used one (`AuthenticationResponseJSON`, §5.1.8.2). */
export type AuthenticationResponse = z.output<typeof authentication>;

const registrationInput = z.object({ response: registration });
const authenticationInput = z.object({ response: authentication });

/**
 * Reads what `navigator.credentials.create()` gave, as its `toJSON()` writes it.
 *
 * @throws {InvalidInputError} under the path `response`.
 */
export const readRegistration = (response: unknown): RegistrationResponse =>
  parseInput(registrationInput, { response }).response;

/**
 * Reads what `navigator.credentials.get()` gave, as its `toJSON()` writes it.
 *
 * @throws {InvalidInputError} under the path `response`.
 */
export const readAuthentication = (response: unknown): AuthenticationResponse =>
  parseInput(authenticationInput, { response }).response;

/** The bytes of a base64url text. */
export const bytesOf = (encoded: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(encoded, 'base64url'));

/** The base64url text of bytes, without padding (RFC 4648 §5). */
export const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

const clientData = z.object({ challenge: base64url(64), crossOrigin: z.boolean().optional() });

/** The challenge that a response answers, and whether a page of another site asked; null if it says neither. */
export function readClientData(
  clientDataJSON: string,
): { challenge: Uint8Array<ArrayBuffer>; isCrossOrigin: boolean } | null {
  try {
    const parsed = clientData.safeParse(
      JSON.parse(Buffer.from(bytesOf(clientDataJSON)).toString()),
    );
    if (!parsed.success) return null;
    const { challenge, crossOrigin = false } = parsed.data;
    return { challenge: bytesOf(challenge), isCrossOrigin: crossOrigin };
  } catch {
    return null;
  }
}
