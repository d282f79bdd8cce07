import type { SigningAlgorithm } from '../../generated/graphql.ts';

/** The algorithms of signatures, in the order in which they are offered. */
export const signingAlgorithms = [
  'ES256',
  'ES384',
  'EdDSA',
  'RS256',
  'PS256',
] as const satisfies readonly SigningAlgorithm[];
