import type { WebhookSecret } from '../../generated/prisma/client.ts';
import type { Cipher } from '../../keys/cipher.ts';
import { purposeOf } from '../../keys/sealed-columns.ts';

const secretPurpose = (id: string) => purposeOf('webhook-secret', id);
const headersPurpose = (webhookId: string) => purposeOf('webhook-headers', webhookId);

/** Encrypts a webhook's signing secret for the row with that id. */
export const sealSecret = (cipher: Cipher, id: string, secret: string) =>
  cipher.encrypt(secret, secretPurpose(id));

/** Reads a webhook's signing secret. */
export const openSecret = (cipher: Cipher, row: Pick<WebhookSecret, 'id' | 'secret'>): string =>
  cipher.decrypt(row.secret, secretPurpose(row.id));

/** Encrypts a webhook's own headers, which may hold credentials. */
export const sealHeaders = (
  cipher: Cipher,
  webhookId: string,
  headers: Readonly<Record<string, string>>,
) =>
  Object.keys(headers).length === 0
    ? null
    : cipher.encrypt(JSON.stringify(headers), headersPurpose(webhookId));

/** Reads a webhook's own headers. */
export const openHeaders = (
  cipher: Cipher,
  row: { readonly id: string; readonly headers: Uint8Array | null },
): Record<string, string> =>
  row.headers === null
    ? {}
    : (JSON.parse(cipher.decrypt(row.headers, headersPurpose(row.id))) as Record<string, string>);
