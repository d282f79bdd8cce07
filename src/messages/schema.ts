import { setterScopesDescription } from '../auth/granting/setter-scopes.ts';
import { InvalidInputError, NotAllowedError } from '../errors.ts';
import type { MessageSender as MessageSenderRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { addMutation, noFields, type PayloadFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { removeSender, sendTestMessage, setEmailSender, setSmsSender } from './operations.ts';
import type { HttpSettings } from './senders/http.ts';
import type { SmtpSettings } from './senders/smtp.ts';
import { type MessageTemplate, messageTemplates } from './templates/wording.ts';

const MessageChannelEnum = builder.enumType('MessageChannel', {
  description: 'The channel of a message.',
  values: {
    EMAIL: { description: 'By e-mail.' },
    SMS: { description: 'By SMS.' },
  },
});

const MessageStatusEnum = builder.enumType('MessageStatus', {
  description: 'The state of a message.',
  values: {
    PENDING: { description: 'It waits for its first or its next attempt.' },
    SENT: { description: 'The mail server or the HTTP sender has accepted it.' },
    FAILED: { description: 'It was refused for good, for example because nobody has the address.' },
    EXPIRED: { description: 'It expired before it could be sent.' },
  },
});

const MessageTemplateEnum = builder.enumType('MessageTemplate', {
  description: 'The purpose of a message.',
  values: Object.fromEntries(
    Object.entries(messageTemplates).map(([name, description]) => [name, { description }]),
  ) as Record<MessageTemplate, { description: string }>,
});

const MessageSenderKindEnum = builder.enumType('MessageSenderKind', {
  description: 'How messages are sent.',
  values: {
    SMTP: { description: 'To a mail server.' },
    HTTP: { description: 'By POST, signed (https://www.standardwebhooks.com).' },
  },
});

const SmtpSender = builder
  .objectRef<SmtpSettings & { readonly hasPassword: boolean }>('SmtpSender')
  .implement({
    description: 'A mail server. Its password is never shown.',
    fields: (t) => ({
      host: t.exposeString('host', { description: 'Its host name or IP address.' }),
      port: t.exposeInt('port', { description: 'Its port.' }),
      secure: t.exposeBoolean('secure', {
        description:
          'Whether TLS starts with the first byte. If not, STARTTLS is used if the server offers it.',
      }),
      username: t.exposeString('username', {
        nullable: true,
        description: 'The user name to log in with; null without login.',
      }),
      hasPassword: t.exposeBoolean('hasPassword', { description: 'Whether a password is set.' }),
      from: t.exposeString('from', { description: 'The sender address of messages.' }),
    }),
  });

const HttpSender = builder.objectRef<HttpSettings>('HttpSender').implement({
  description: 'The endpoint that messages are posted to. Its signing secret is never shown.',
  fields: (t) => ({
    url: t.expose('url', { type: 'URL', description: 'The URL.' }),
  }),
});

const MessageSender = builder.objectRef<MessageSenderRow>('MessageSender').implement({
  description: 'How the messages of a channel are sent.',
  fields: (t) => ({
    channel: t.expose('channel', { type: MessageChannelEnum, description: 'The channel.' }),
    kind: t.expose('kind', { type: MessageSenderKindEnum, description: 'The kind of sender.' }),
    smtp: t.field({
      type: SmtpSender,
      nullable: true,
      description: 'The mail server; null for another kind.',
      // Only `setEmailSender` writes these values, and it has checked them.
      resolve: ({ kind, settings, secret }) =>
        kind === 'SMTP'
          ? { ...(settings as unknown as SmtpSettings), hasPassword: secret !== null }
          : null,
    }),
    http: t.field({
      type: HttpSender,
      nullable: true,
      description: 'The HTTP endpoint; null for another kind.',
      // As above.
      resolve: ({ kind, settings }) =>
        kind === 'HTTP' ? (settings as unknown as HttpSettings) : null,
    }),
    setterScopes: t.exposeStringList('setterScopes', { description: setterScopesDescription }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first set.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last set.' }),
  }),
});

/** A message. No field shows its content. */
const Message = builder.prismaNode('Message', {
  nullable: true,
  id: { field: 'id', description: "The message's id: a TypeID with the prefix `msg`." },
  description:
    'A message to a person. It is kept for a week. Its code and link are erased once it has ended.',
  authScopes: { scope: 'experience:read' },
  // Without this, all columns would be read; the content need not leave the database.
  select: { id: true },
  fields: (t) => ({
    channel: t.expose('channel', { type: MessageChannelEnum, description: 'Its channel.' }),
    recipient: t.exposeString('recipient', {
      description: 'An e-mail address, or a telephone number in E.164.',
    }),
    template: t.field({
      type: MessageTemplateEnum,
      description: 'Its purpose.',
      select: { template: true },
      resolve: ({ template }) => template as MessageTemplate,
    }),
    language: t.exposeString('language', { description: 'Its language (BCP 47).' }),
    status: t.expose('status', { type: MessageStatusEnum, description: 'Its state.' }),
    attemptCount: t.exposeInt('attemptCount', { description: 'How many attempts were made.' }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the last attempt failed; null if none failed.',
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null if there is none.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it expires. It is tried again until then, and not sent later.',
    }),
    sentAt: t.expose('sentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was sent; null if it was not.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was queued.' }),
  }),
});

builder.queryFields((t) => ({
  messageSenders: t.field({
    type: [MessageSender],
    description:
      'How messages are sent: at most one sender for each channel. Without a sender, messages go to the outbox of the embedded set-up, or nowhere.',
    authScopes: { scope: 'experience:read' },
    resolve: (_root, _args, { database }) =>
      database.prisma.messageSender.findMany({ orderBy: { channel: 'asc' } }),
  }),
  message: t.prismaField({
    type: Message,
    nullable: true,
    description: 'A message, or null if none has that id.',
    authScopes: { scope: 'experience:read' },
    args: { id: t.arg.id({ required: true, description: "The message's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.message.findUnique({ ...query, where: { id } }),
  }),
}));

const senderMutations = recordMutations('messageSender', MessageSender, {
  scope: 'experience:write',
  noun: 'sender',
});

const removedPayload = (t: PayloadFields<{ messageSender: MessageSenderRow | null }>) => ({
  messageSender: t.field({
    type: MessageSender,
    nullable: true,
    description: 'The removed sender; null if there was none.',
    resolve: ({ messageSender }) => messageSender,
  }),
});

const SmtpSenderInput = builder.inputType('SmtpSenderInput', {
  description: 'A mail server.',
  fields: (t) => ({
    host: t.string({ required: true, description: 'Its host name or IP address.' }),
    port: t.int({ description: 'Its port: 465 by default with `secure`, else 587.' }),
    secure: t.boolean({
      description:
        'Whether TLS starts with the first byte: `true` by default on port 465. If not, STARTTLS is used if the server offers it. With credentials, TLS is required.',
    }),
    username: t.string({ description: 'The user name to log in with.' }),
    password: t.string({ description: 'The password to log in with.' }),
    from: t.string({
      required: true,
      description: 'The sender of messages: an e-mail address, with or without a name before it.',
    }),
  }),
});

const HttpSenderInput = builder.inputType('HttpSenderInput', {
  description: 'The endpoint that messages are posted to.',
  fields: (t) => ({
    url: t.field({
      type: 'URL',
      required: true,
      description:
        'The URL. It needs https and a public address, unless ALLOW_PRIVATE_WEBHOOKS is set.',
    }),
    secret: t.string({
      required: true,
      description: 'The secret that signs each POST: `whsec_` and the base64 of 24 to 64 bytes.',
    }),
  }),
});

senderMutations.add('setEmailSender', {
  description:
    'Sets how e-mail is sent: by a mail server or by HTTP. It replaces any earlier sender; waiting messages are sent that way too. Whoever sets it could read every code. Requires `experience:write`. Raises `MessageSender.Updated` if something changed.',
  input: (t) => ({
    smtp: t.field({ type: SmtpSenderInput, description: 'A mail server. Give this or `http`.' }),
    http: t.field({ type: HttpSenderInput, description: 'An HTTP endpoint. Give this or `smtp`.' }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  operation: (context, input) => setEmailSender(context, input),
});

senderMutations.add('setSmsSender', {
  description:
    'Sets how SMS are sent: by HTTP. It replaces any earlier sender; waiting messages are sent that way too. Raises `MessageSender.Updated`.',
  input: (t) => ({
    http: t.field({ type: HttpSenderInput, required: true, description: 'An HTTP endpoint.' }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  operation: (context, input) => setSmsSender(context, input),
});

for (const [name, channel, what] of [
  ['removeEmailSender', 'EMAIL', 'e-mail'],
  ['removeSmsSender', 'SMS', 'SMS'],
] as const) {
  addMutation(name, {
    description: `Removes the sender of ${what}. Waiting messages stay queued until there is another sender or they expire. Raises \`MessageSender.Updated\` if there was one.`,
    scope: 'experience:write',
    input: noFields,
    payload: removedPayload,
    errors: [],
    resolve: async (_input, context) => ({ messageSender: await removeSender(context, channel) }),
  });
}

// The field is not `message`: the errors in the same union have a field of that name.
const testMutations = recordMutations('testMessage', Message, {
  scope: 'experience:write',
  noun: 'message',
});

testMutations.add('sendTestMessage', {
  isOutside: true,
  description:
    'Sends a message without a code, to test whether messages of a channel arrive. It is queued like any other: its `status` and `error` show the result. Raises no event.',
  input: (t) => ({
    channel: t.field({ type: MessageChannelEnum, required: true, description: 'The channel.' }),
    recipient: t.string({
      required: true,
      description: 'An e-mail address, or for SMS a telephone number in E.164.',
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  operation: (context, input) => sendTestMessage(context, input),
});
