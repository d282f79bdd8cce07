import { useState } from 'react';
import type { MessageChannel } from '../generated/graphql.ts';
import { useData } from '../kit/api/use-data.ts';
import { Button } from '../kit/controls/button.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { Failed } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { toast } from '../kit/toasts.ts';
import {
  MessageSenders,
  RemoveEmailSender,
  RemoveSmsSender,
  type ShownSender,
} from './documents.ts';
import { experienceMessages } from './messages.ts';
import { EmailSenderForm, SmsSenderForm, TestMessageForm } from './sender-forms.tsx';
import styles from './sign-in-experience.module.css';

/** The senders of messages: one for e-mail, one for SMS. */
export function Senders() {
  const t = useMessages(experienceMessages);
  const canWrite = useCan('experience:write');
  const { data, error, refetch } = useData(MessageSenders, {});
  const [isTesting, setIsTesting] = useState(false);
  return (
    <Section
      title={t.senders}
      about={t.sendersAbout}
      action={
        canWrite && (
          <Button size="small" onClick={() => setIsTesting(true)}>
            {t.sendTest}
          </Button>
        )
      }
    >
      {error && !data && <Failed error={error} onRetry={refetch} />}
      {!data && !error && <Loading lines={2} />}
      {data &&
        (['EMAIL', 'SMS'] as const).map((channel) => (
          <Sender
            key={channel}
            channel={channel}
            sender={data.messageSenders.find((each) => each.channel === channel)}
          />
        ))}
      <Dialog title={t.sendTest} isOpen={isTesting} onClose={() => setIsTesting(false)}>
        <TestMessageForm onClose={() => setIsTesting(false)} />
      </Dialog>
    </Section>
  );
}

function Sender({ channel, sender }: { channel: MessageChannel; sender: ShownSender | undefined }) {
  const t = useMessages(experienceMessages);
  const canWrite = useCan('experience:write');
  const [isSetting, setIsSetting] = useState(false);
  const close = () => setIsSetting(false);
  const set = channel === 'EMAIL' ? t.setEmail : t.setSms;
  return (
    <div className={styles.sender}>
      <div className={styles.senderHead}>
        <h3>{t.channels[channel]}</h3>
        {canWrite && (
          <div className={styles.actions}>
            <Button size="small" onClick={() => setIsSetting(true)}>
              {set}
            </Button>
            {sender && <RemoveSender channel={channel} />}
          </div>
        )}
      </div>
      {sender ? (
        <SenderProperties sender={sender} />
      ) : (
        <p className={styles.about}>{t.noSender[channel]}</p>
      )}
      <Dialog title={set} isOpen={isSetting} onClose={close}>
        {channel === 'EMAIL' ? (
          <EmailSenderForm sender={sender} onClose={close} />
        ) : (
          <SmsSenderForm sender={sender} onClose={close} />
        )}
      </Dialog>
    </div>
  );
}

function RemoveSender({ channel }: { channel: MessageChannel }) {
  const t = useMessages(experienceMessages);
  const action = {
    label: t.removeNamed[channel],
    title: t.removeTitle[channel],
    text: t.removeText,
    input: {},
    onDone: () => toast.done(t.removed),
    kind: 'danger',
    size: 'small',
  } as const;
  return channel === 'EMAIL' ? (
    <ConfirmAction {...action} document={RemoveEmailSender} />
  ) : (
    <ConfirmAction {...action} document={RemoveSmsSender} />
  );
}

function SenderProperties({ sender: { kind, http, smtp } }: { sender: ShownSender }) {
  const t = useMessages(experienceMessages);
  return (
    <Properties>
      <Property name={t.kind}>{t.kinds[kind]}</Property>
      {http && <Property name={t.url}>{http.url}</Property>}
      {smtp && (
        <>
          <Property name={t.host}>{`${smtp.host}:${smtp.port}`}</Property>
          <Property name={t.tls}>{smtp.secure ? t.secure : t.startTls}</Property>
          <Property name={t.login}>{smtp.username ?? t.noLogin}</Property>
          <Property name={t.from}>{smtp.from}</Property>
        </>
      )}
    </Properties>
  );
}
