import { useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import type { MessageChannel, MessageSenderKind } from '../generated/graphql.ts';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../kit/forms/choices.tsx';
import { filledText } from '../kit/forms/described.ts';
import { CheckField, PasswordField, SelectField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { SendTestMessage, SetEmailSender, SetSmsSender, type ShownSender } from './documents.ts';
import { experienceMessages } from './messages.ts';

const kinds = ['SMTP', 'HTTP'] as const satisfies readonly MessageSenderKind[];

interface FormProps {
  readonly sender: ShownSender | undefined;
  readonly onClose: () => void;
}

/** Sets the sender of e-mails: a mail server or an HTTP endpoint. Secrets cannot be read, so they are typed again. */
export function EmailSenderForm({ sender, onClose }: FormProps) {
  const t = useMessages(experienceMessages);
  return (
    <ActionForm
      document={SetEmailSender}
      schema={z.object({
        kind: z.enum(kinds),
        smtp: z.object({
          host: z.string(),
          port: z.string(),
          secure: z.boolean(),
          username: z.string(),
          password: z.string(),
          from: z.string(),
        }),
        http: z.object({ url: z.string(), secret: z.string() }),
      })}
      values={{
        kind: (sender?.kind ?? 'SMTP') as MessageSenderKind,
        smtp: {
          host: sender?.smtp?.host ?? '',
          port: sender?.smtp ? String(sender.smtp.port) : '',
          secure: sender?.smtp?.secure ?? false,
          username: sender?.smtp?.username ?? '',
          password: '',
          from: sender?.smtp?.from ?? '',
        },
        http: { url: sender?.http?.url ?? '', secret: '' },
      }}
      toInput={({ kind, smtp: { host, port, secure, username, password, from }, http }) =>
        kind === 'HTTP'
          ? { http: { url: http.url.trim(), secret: http.secret.trim() } }
          : {
              smtp: {
                host: host.trim(),
                ...(port.trim() ? { port: Number(port) } : {}),
                secure,
                ...(username.trim() ? { username: username.trim() } : {}),
                ...(password ? { password } : {}),
                from: from.trim(),
              },
            }
      }
      onDone={() => {
        toast.done(t.senderSet);
        onClose();
      }}
      submit={t.setEmail}
      onCancel={onClose}
    >
      <RadioCards name="kind" label={t.kind} choices={choicesOf(kinds, t.kinds, t.kindTexts)} />
      <EmailFields />
    </ActionForm>
  );
}

function EmailFields() {
  const t = useMessages(experienceMessages);
  const kind = useWatch({ name: 'kind' }) as MessageSenderKind;
  if (kind === 'HTTP') return <HttpFields />;
  return (
    <>
      <TextField name="smtp.host" label={t.host} placeholder="smtp.example.com" isCode />
      <TextField name="smtp.port" label={t.port} hint={t.portHint} isOptional isCode />
      <CheckField name="smtp.secure" label={t.secure} hint={t.secureHint} />
      <TextField name="smtp.username" label={t.username} isOptional />
      <PasswordField name="smtp.password" label={t.password} autoComplete="off" isOptional />
      <TextField name="smtp.from" label={t.from} placeholder="Example <no-reply@example.com>" />
    </>
  );
}

function HttpFields() {
  const t = useMessages(experienceMessages);
  return (
    <>
      <TextField
        name="http.url"
        type="url"
        label={t.url}
        hint={t.urlHint}
        placeholder="https://messages.example.com/send"
      />
      <PasswordField name="http.secret" label={t.secret} hint={t.secretHint} autoComplete="off" />
    </>
  );
}

/** Sets the sender of SMS: an HTTP endpoint. */
export function SmsSenderForm({ sender, onClose }: FormProps) {
  const t = useMessages(experienceMessages);
  return (
    <ActionForm
      document={SetSmsSender}
      schema={z.object({ http: z.object({ url: z.string(), secret: z.string() }) })}
      values={{ http: { url: sender?.http?.url ?? '', secret: '' } }}
      toInput={({ http }) => ({ http: { url: http.url.trim(), secret: http.secret.trim() } })}
      onDone={() => {
        toast.done(t.senderSet);
        onClose();
      }}
      submit={t.setSms}
      onCancel={onClose}
    >
      <HttpFields />
    </ActionForm>
  );
}

/** Sends a test message. */
export function TestMessageForm({ onClose }: { onClose: () => void }) {
  const t = useMessages(experienceMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={SendTestMessage}
      schema={z.object({
        channel: z.enum(['EMAIL', 'SMS']),
        recipient: filledText(texts.required),
      })}
      values={{ channel: 'EMAIL' as MessageChannel, recipient: '' }}
      toInput={({ channel, recipient }) => ({ channel, recipient: recipient.trim() })}
      onDone={({ testMessage }) => {
        toast.done(t.testSent(testMessage.recipient));
        onClose();
      }}
      submit={t.sendTest}
      onCancel={onClose}
    >
      <SelectField
        name="channel"
        label={t.channel}
        options={[
          { value: 'EMAIL', label: t.channels.EMAIL },
          { value: 'SMS', label: t.channels.SMS },
        ]}
      />
      <TextField name="recipient" label={t.recipient} hint={t.recipientHint} hasFocus />
    </ActionForm>
  );
}
