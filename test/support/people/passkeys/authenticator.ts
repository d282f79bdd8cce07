import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** The JSON of a registration or of an authentication response (WebAuthn Level 3 §5.1.8). */
interface CredentialJson {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly clientExtensionResults: object;
  readonly response: Readonly<Record<string, unknown>>;
}

interface Stored {
  readonly id: Buffer;
  readonly rpId: string;
  readonly userHandle: string;
  readonly privateKey: KeyObject;
  readonly digest: 'sha256' | null;
}

/** What a hostile page, client or authenticator says instead of the truth. */
export interface Lies {
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly type?: string;
  readonly challenge?: string;
  readonly rpId?: string;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly isBackupEligible?: boolean;
  readonly signCount?: number;
  readonly userHandle?: string | null;
  readonly algorithm?: Algorithm;
  /** The signature is that of another key. */
  readonly forges?: boolean;
}

type Algorithm = 'ES256' | 'ES384' | 'EdDSA' | 'RS256';

// biome-ignore lint/suspicious/noExplicitAny: options are JSON that the service makes.
type Options = any;

/** An authenticator in software, with the browser around it: real keys and signatures, and the formats of the standard. */
export interface Authenticator {
  /** As `navigator.credentials.create()`: makes a passkey. */
  create(options: Options, lies?: Lies): CredentialJson;
  /** As `navigator.credentials.get()`: uses the passkey that the options name, or else the newest. */
  get(options: Options, lies?: Lies): CredentialJson;
  /** The base64url ids of its passkeys, the oldest first. */
  readonly ids: readonly string[];
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const length16 = (bytes: Uint8Array) => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return length;
};
const coordinate = (value: string | undefined) => Buffer.from(value ?? '', 'base64url');

/** A new key pair, and its public key as a COSE_Key (RFC 9053 §7). */
function generate(algorithm: Algorithm) {
  if (algorithm === 'EdDSA') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { x } = publicKey.export({ format: 'jwk' });
    return {
      privateKey,
      cose: Buffer.concat([hex('a4 01 01 03 27 20 06 21 58 20'), coordinate(x)]),
    };
  }
  if (algorithm === 'RS256') {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const n = coordinate(publicKey.export({ format: 'jwk' }).n);
    return {
      privateKey,
      cose: Buffer.concat([hex('a4 01 03 03 39 01 00 20 59 01 00'), n, hex('21 43 01 00 01')]),
    };
  }
  const isSmall = algorithm === 'ES256';
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: isSmall ? 'P-256' : 'P-384',
  });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const [head, size] = isSmall ? ['a5 01 02 03 26 20 01', '20'] : ['a5 01 02 03 38 22 20 02', '30'];
  return {
    privateKey,
    cose: Buffer.concat([
      hex(`${head} 21 58 ${size}`),
      coordinate(x),
      hex(`22 58 ${size}`),
      coordinate(y),
    ]),
  };
}

/**
 * Makes an authenticator.
 *
 * @param origin The origin of the page that asks it.
 * @param countsUses Whether it counts signatures. Those that copy passkeys to other devices do not.
 * @param credentialId The id of its first passkey; by default, and afterwards, ids are random.
 * @param isBackupEligible Whether its passkeys may be copied.
 */
export function createAuthenticator(
  origin: string,
  {
    countsUses = false,
    isBackupEligible = true,
    credentialId,
  }: { countsUses?: boolean; isBackupEligible?: boolean; credentialId?: string } = {},
): Authenticator {
  const stored: Stored[] = [];
  let uses = 0;

  const clientDataOf = (type: string, options: Options, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? options.challenge,
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    );

  /** Authenticator data without what it says of a new credential (§6.1). */
  function dataOf(rpId: string, attested: boolean, lies: Lies): Buffer {
    const eligible = lies.isBackupEligible ?? isBackupEligible;
    const flags =
      ((lies.isPresent ?? true) ? 0x01 : 0) |
      ((lies.isVerified ?? true) ? 0x04 : 0) |
      (eligible ? 0x18 : 0) |
      (attested ? 0x40 : 0);
    uses += countsUses ? 1 : 0;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.signCount ?? uses);
    return Buffer.concat([sha256(lies.rpId ?? rpId), Buffer.from([flags]), count]);
  }

  return {
    get ids() {
      return stored.map(({ id }) => base64url(id));
    },

    create(options, lies = {}) {
      const known = stored.map(({ id }) => base64url(id));
      const isKnown = ({ id }: { id: string }) => known.includes(id);
      if (options.excludeCredentials.some(isKnown)) throw new Error('InvalidStateError');
      const algorithm = lies.algorithm ?? 'ES256';
      const { privateKey, cose } = generate(algorithm);
      const isChosen = credentialId !== undefined && stored.length === 0;
      const id = isChosen ? Buffer.from(credentialId, 'base64url') : randomBytes(32);
      const userHandle = options.user.id as string;
      const digest = algorithm === 'EdDSA' ? null : ('sha256' as const);
      stored.push({ id, rpId: options.rp.id, userHandle, privateKey, digest });
      const clientDataJSON = clientDataOf('webauthn.create', options, lies);
      const authData = Buffer.concat([
        dataOf(options.rp.id, true, lies),
        Buffer.alloc(16),
        length16(id),
        id,
        cose,
      ]);
      const attestationObject = Buffer.concat([
        hex('a3'),
        hex('63'),
        Buffer.from('fmt'),
        hex('64'),
        Buffer.from('none'),
        hex('67'),
        Buffer.from('attStmt'),
        hex('a0 68'),
        Buffer.from('authData'),
        hex('59'),
        length16(authData),
        authData,
      ]);
      return {
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        clientExtensionResults: { credProps: { rk: true } },
        response: {
          clientDataJSON: base64url(clientDataJSON),
          attestationObject: base64url(attestationObject),
          transports: ['internal', 'hybrid'],
        },
      };
    },

    get(options, lies = {}) {
      const allowed = (options.allowCredentials as { id: string }[]).map(({ id }) => id);
      const used = stored.findLast(
        ({ id, rpId }) =>
          rpId === options.rpId && (allowed.length === 0 || allowed.includes(base64url(id))),
      );
      if (!used) throw new Error('NotAllowedError');
      const clientDataJSON = clientDataOf('webauthn.get', options, lies);
      const authenticatorData = dataOf(options.rpId, false, lies);
      const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)]);
      const key = lies.forges ? generate('ES256').privateKey : used.privateKey;
      return {
        id: base64url(used.id),
        rawId: base64url(used.id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(clientDataJSON),
          authenticatorData: base64url(authenticatorData),
          signature: base64url(sign(used.digest, signed, key)),
          ...(lies.userHandle === null ? {} : { userHandle: lies.userHandle ?? used.userHandle }),
        },
      };
    },
  };
}
