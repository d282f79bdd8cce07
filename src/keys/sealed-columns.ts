import { Prisma } from '../generated/prisma/client.ts';

/** A column of ciphertexts. */
export interface SealedColumn {
  readonly table: Prisma.ModelName;
  readonly column: string;
  /** The rest of a value's purpose, behind its kind: an SQL expression over the row. */
  readonly owner: Prisma.Sql;
}

const column = (table: Prisma.ModelName, name: string, owner = '"id"'): SealedColumn => ({
  table,
  column: name,
  owner: Prisma.raw(owner),
});

/**
 * Every column that a secret encrypts, by the kind of its values. The background pass after a change of
 * `SIGNET_SECRET` encrypts these anew. A test holds it against the Prisma schema.
 */
export const sealedColumns = {
  'signing-key': column('SigningKey', 'privateJwk'),
  'kept-key': column('KeptKey', 'key', '"use"'),
  'webhook-secret': column('WebhookSecret', 'secret'),
  'webhook-headers': column('Webhook', 'headers'),
  'message-sender': column('MessageSender', 'secret', '"channel"::text'),
  message: column('Message', 'content'),
  'identity-provider': column('IdentityProvider', 'clientSecret'),
  federation: column('Federation', 'codeVerifier', `encode("digest", 'hex')`),
  totp: column('UserFactor', 'secret'),
  'totp-enrollment': column('TotpEnrollment', 'secret', `"holder" || ':' || "userId"`),
  'kept-result': column('KeptResult', 'result', `encode("id", 'base64')`),
} as const satisfies Record<string, SealedColumn>;

type Kind = keyof typeof sealedColumns;

/**
 * What a ciphertext is for: its kind and its owner. What is in no column must not outlive the longest cookie, because
 * nothing encrypts it anew.
 */
export type Purpose =
  | `${Kind}:${string}`
  | 'one-time-token-parameter'
  | `sent-step:${string}`
  | `${string}-sign-in:${string}`;

/** The purpose of a value of that kind. */
export const purposeOf = (kind: Kind, owner: string): Purpose => `${kind}:${owner}`;
