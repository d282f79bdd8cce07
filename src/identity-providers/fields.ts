import { z } from 'zod';
import type { Conflicts } from '../db/conflict.ts';
import { distinct, emailDomain, fault, name, text } from '../input.ts';

/** The scopes to ask for if none are given. */
export const defaultScopes = ['openid', 'profile', 'email'];

// RFC 6749 §3.3
const scopeToken = text(128).regex(
  /^[\x21\x23-\x5B\x5D-\x7E]+$/,
  fault('INVALID_FORMAT', 'must hold only the characters of a scope token (RFC 6749 §3.3)'),
);

/** The scopes of a request. `openid` is always one of them (OpenID Connect Core §3.1.2.1). */
const scopes = distinct(scopeToken, 50).transform((given) => [...new Set(['openid', ...given])]);

// OpenID Connect Discovery §3: no query and no fragment.
const issuer = text(2048)
  .trim()
  .refine(
    (value) => URL.canParse(value) && /^https?:\/\/[^\s?#\p{Cc}]+$/iu.test(value),
    fault('INVALID_FORMAT', 'must be an https URL without query and fragment'),
  )
  .refine(
    (value) =>
      !URL.canParse(value) || (new URL(value).username === '' && new URL(value).password === ''),
    'must not hold credentials',
  )
  .refine(
    (value) => !value.includes('/.well-known/'),
    'must be the issuer itself, without /.well-known/openid-configuration',
  );

const credential = text(1024)
  .min(1, 'must not be empty')
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');

/** The fields of an identity provider. */
export const providerFields = {
  name: name(),
  kind: z.enum(['SOCIAL', 'ENTERPRISE']),
  issuer,
  clientId: credential,
  clientSecret: credential,
  scopes,
  emailDomains: distinct(emailDomain, 100),
  enabled: z.boolean(),
};

/** The unique values of identity providers. */
export const providerConflicts: Conflicts = {
  IdentityProviderEmailDomain_pkey: {
    path: ['emailDomains'],
    message: 'Another identity provider has one of these domains.',
  },
};
