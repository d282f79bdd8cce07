import type { Changes } from '../events/catalogue/records.ts';
import type { MessageSender } from '../generated/prisma/client.ts';
import { withoutSecrets } from '../outbound/target.ts';
import type { HttpSettings } from './senders/http.ts';
import type { SmtpSettings } from './senders/smtp.ts';

/** A channel's sender as events show it, without its secret; null for none. */
function shownSender(sender: MessageSender | null) {
  if (sender === null) return null;
  const { kind, settings, secret } = sender;
  // Only the operations of this folder write these values.
  return kind === 'SMTP'
    ? { kind, ...(settings as unknown as SmtpSettings), hasPassword: secret !== null }
    : { kind, url: withoutSecrets((settings as unknown as HttpSettings).url) };
}

/** A new sender of a channel in place of another. The two look the same if only a secret differs. */
export const senderChange = (
  before: MessageSender | null,
  after: MessageSender | null,
): Changes => {
  const channel = (after ?? before)?.channel === 'SMS' ? 'sms' : 'email';
  return { [channel]: { from: shownSender(before), to: shownSender(after) } };
};
