import { createHash } from 'node:crypto';

/** The S256 code challenge of a verifier (RFC 7636 §4.2). */
export const challengeOf = (codeVerifier: string): string =>
  createHash('sha256').update(codeVerifier).digest('base64url');
