import { generateWebhookSecret, keyOf, signatureHeaders } from '../../../src/outbound/signature.ts';

/** A message as it is sent. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

let made = 0;

/** A message that is signed as the service signs. */
export function signedMessage(
  secret: string,
  name: string,
  {
    keys = [keyOf(secret)],
    timestamp = Math.floor(Date.now() / 1000),
    filling = '',
  }: Partial<{ keys: ReturnType<typeof keyOf>[]; timestamp: number; filling: string }> = {},
): Message {
  made += 1;
  const id = `evt_${String(made).padStart(26, '0')}`;
  const body = Buffer.from(
    JSON.stringify({
      id,
      type: 'User.Created',
      timestamp: new Date(timestamp * 1000),
      actor: null,
      data: { id: `user_${made}`, name, customData: { filling } },
    }),
  );
  const headers = signatureHeaders(keys, { id, timestamp, body });
  return { headers: { 'content-type': 'application/json', ...headers }, body };
}

/** The messages that a receiver of a secret takes though they are not as the usual ones. */
export function unusualMessages(secret: string, name: string): Record<string, Message> {
  const usual = () => signedMessage(secret, name);
  const withSignature = (change: (signature: string) => string) => {
    const { headers, body } = usual();
    const signature = change(headers['webhook-signature'] ?? '');
    return { headers: { ...headers, 'webhook-signature': signature }, body };
  };
  const stranger = keyOf(generateWebhookSecret());
  return {
    'by hand': usual(),
    'another signature first': signedMessage(secret, name, { keys: [stranger, keyOf(secret)] }),
    'another signature last': signedMessage(secret, name, { keys: [keyOf(secret), stranger] }),
    'another kind of signature': withSignature((signature) => `v1a,QUJD ${signature}`),
  };
}

/** The messages that a receiver of a secret has to refuse. */
export function forgedMessages(secret: string, name: string): Record<string, Message> {
  const now = Math.floor(Date.now() / 1000);
  const usual = () => signedMessage(secret, name);
  const withHeader = (header: string, change: (value: string) => string | undefined) => {
    const { headers, body } = usual();
    const { [header]: value = '', ...others } = headers;
    const changed = change(value);
    return { headers: changed === undefined ? others : { ...others, [header]: changed }, body };
  };
  const { headers, body } = usual();
  return {
    body: { headers, body: Buffer.from(body.toString().replace(name, `${name}!`)) },
    'written anew': { headers, body: Buffer.from(JSON.stringify(JSON.parse(`${body}`), null, 1)) },
    id: withHeader('webhook-id', (id) => `${id}0`),
    timestamp: withHeader('webhook-timestamp', (sent) => String(Number(sent) + 1)),
    old: signedMessage(secret, name, { timestamp: now - 600 }),
    'of the future': signedMessage(secret, name, { timestamp: now + 600 }),
    'no number': signedMessage(secret, name, { timestamp: Number.NaN }),
    'long number': signedMessage(secret, name, { timestamp: 1e21 }),
    secret: signedMessage(generateWebhookSecret(), name),
    'without id': withHeader('webhook-id', () => undefined),
    'without timestamp': withHeader('webhook-timestamp', () => undefined),
    'without signature': withHeader('webhook-signature', () => undefined),
    'empty signature': withHeader('webhook-signature', () => 'v1,'),
    'no signature': withHeader('webhook-signature', () => 'v1'),
    'beyond ASCII': withHeader('webhook-signature', (signature) => `${signature}é`),
    'another version': withHeader('webhook-signature', (signature) =>
      signature.replace('v1', 'v2'),
    ),
  };
}
