import { z } from 'zod';
import { distinct, fault, name, text } from '../../input.ts';
import { targetUrl } from '../../outbound/target.ts';

/** What a claim of each assertion has to be. */
export interface ClaimRule {
  readonly claim: string;
  readonly equals: string;
}

/** How far ahead an assertion may expire by default, in seconds; one about an identity never further. */
export const defaultLifetimeSeconds = 300;
/** How far ahead the assertion of a workload may expire at most, in seconds. */
export const maxLifetimeSeconds = 3_600;
/** The most rules of an issuer. */
export const maxClaimRules = 20;

/** The issuer of JWTs elsewhere, as their `iss` spells it. */
export const foreignIssuer = text(2048)
  .trim()
  .refine(
    (value) => URL.canParse(value) && /^[a-z][a-z0-9+.-]*:[^\s#\p{Cc}]+$/iu.test(value),
    fault('INVALID_FORMAT', 'must be a URL without a fragment'),
  );

/** The fields of a trusted issuer. */
export const issuerFields = {
  name: name(),
  issuer: foreignIssuer,
  jwksUri: targetUrl,
  kind: z.enum(['WORKLOAD', 'IDENTITY']),
  claimRules: z
    .array(z.object({ claim: name(256), equals: text(1024).min(1, 'must not be empty') }))
    .max(maxClaimRules, `must have at most ${maxClaimRules} entries`),
  applicationId: z.string(),
  maxLifetimeSeconds: z
    .number()
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(maxLifetimeSeconds, `must be at most ${maxLifetimeSeconds}`),
  requireJti: z.boolean(),
};

/** Scopes, by the names that the other authorization server gives them (RFC 6749 §3.3). */
export const foreignScopes = distinct(
  text(256).regex(
    /^[\x21\x23-\x5B\x5D-\x7E]+$/,
    fault('INVALID_FORMAT', 'must hold only the characters of a scope token (RFC 6749 §3.3)'),
  ),
  100,
);
