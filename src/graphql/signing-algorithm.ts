import type { SigningAlgorithm } from '../config.ts';
import { builder } from './builder.ts';

/** The algorithms that a signing key can be made for. */
export const SigningAlgorithmEnum = builder.enumType('SigningAlgorithm', {
  description: 'An algorithm for signing tokens (RFC 7518 §3.1, RFC 8037).',
  values: {
    ES256: { description: 'ECDSA over P-256 with SHA-256.' },
    ES384: { description: 'ECDSA over P-384 with SHA-384.' },
    EdDSA: { description: 'Ed25519.' },
    RS256: { description: 'RSASSA-PKCS1-v1_5 with SHA-256.' },
    PS256: { description: 'RSASSA-PSS with SHA-256.' },
  } as const satisfies Record<SigningAlgorithm, object>,
});
