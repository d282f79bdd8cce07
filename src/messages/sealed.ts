import type { MessageChannel } from '../generated/prisma/client.ts';
import type { Sealing } from '../keys/cipher.ts';
import { purposeOf } from '../keys/sealed-columns.ts';

/** The content of a message that its template does not hold. */
export interface MessageContent {
  readonly code?: string | undefined;
  readonly link?: string | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

const contentPurpose = (messageId: string) => purposeOf('message', messageId);
const senderPurpose = (channel: MessageChannel) => purposeOf('message-sender', channel);

/** Encrypts a message's content for the row with that id. */
export const sealContent = (cipher: Sealing, messageId: string, content: MessageContent) =>
  cipher.encrypt(JSON.stringify(content), contentPurpose(messageId));

/** Decrypts a message's content. */
export const openContent = (
  cipher: Sealing,
  { id, content }: { readonly id: string; readonly content: Uint8Array },
): MessageContent => JSON.parse(cipher.decrypt(content, contentPurpose(id))) as MessageContent;

/** Encrypts the password or the signing secret of a channel's sender. */
export const sealSenderSecret = (cipher: Sealing, channel: MessageChannel, secret: string) =>
  cipher.encrypt(secret, senderPurpose(channel));

/** Decrypts the password or the signing secret of a channel's sender. */
export const openSenderSecret = (
  cipher: Sealing,
  { channel, secret }: { readonly channel: MessageChannel; readonly secret: Uint8Array },
): string => cipher.decrypt(secret, senderPurpose(channel));
