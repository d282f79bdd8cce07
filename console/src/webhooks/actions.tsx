import { useState } from 'react';
import * as z from 'zod/mini';
import { eventMessages } from '../events/messages.ts';
import type { EventType } from '../generated/graphql.ts';
import { useAction } from '../kit/api/use-action.ts';
import { Button } from '../kit/controls/button.tsx';
import { CopyAs } from '../kit/controls/copy-as.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { Dialog, DialogFooter } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { CheckGroups } from '../kit/forms/choices.tsx';
import { TextField } from '../kit/forms/fields.tsx';
import { inLocalTime } from '../kit/forms/local-time.ts';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import {
  ReplayEvents,
  RotateWebhookSecret,
  type ShownWebhook,
  TestWebhook,
  UpdateWebhook,
} from './documents.ts';
import { groupsOfTypes } from './event-types.ts';
import { webhookMessages } from './messages.ts';
import { SecretOnce } from './secret-once.tsx';
import styles from './webhooks.module.css';

/** Sends a test event of the first type that the webhook receives. */
export function SendTest({ webhook }: { webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const { run, isRunning } = useAction(TestWebhook);
  return (
    <Button
      icon="play"
      isBusy={isRunning}
      onClick={async () => {
        const outcome = await run({ id: webhook.id });
        if (outcome.kind === 'refused') toast.failed(outcome.refusal.message);
        if (outcome.kind === 'done') toast.done(t.tested);
      }}
    >
      {t.test}
    </Button>
  );
}

/** Rotates the webhook's secret, and shows the new one once. */
export function RotateSecret({ webhook: { id } }: { webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const [secret, setSecret] = useState<string>();
  const close = () => setSecret(undefined);
  return (
    <>
      <ConfirmAction
        icon="keys"
        label={t.rotate}
        title={t.rotateTitle}
        text={t.rotateText}
        document={RotateWebhookSecret}
        input={{ id }}
        onDone={(payload) => setSecret(payload.secret)}
      />
      <Dialog title={t.rotated} isOpen={secret !== undefined} onClose={close} isUrgent>
        {secret && <SecretOnce secret={secret} />}
        <DialogFooter>
          <Button kind="primary" onClick={close}>
            {t.done}
          </Button>
        </DialogFooter>
      </Dialog>
    </>
  );
}

/** Enables a webhook that Signet has disabled. */
export function Enable({ id }: { id: string }) {
  const t = useMessages(webhookMessages);
  const { run, isRunning } = useAction(UpdateWebhook);
  const input = { id, enabled: true };
  return (
    <span className={styles.inRow}>
      <CopyAs document={UpdateWebhook} input={input} />
      <Button
        size="small"
        isBusy={isRunning}
        onClick={async () => {
          const outcome = await run(input);
          if (outcome.kind === 'refused') toast.failed(outcome.refusal.message);
        }}
      >
        {t.enable}
      </Button>
    </span>
  );
}

const hourMs = 3_600_000;

/** Delivers a range of the log again. */
export function Replay({ webhook }: { webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const texts = useMessages(formMessages);
  const { groups } = useMessages(eventMessages);
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  const gets = ({ value }: { value: string }) =>
    webhook.events.length === 0 || webhook.events.includes(value as EventType);
  return (
    <>
      <Button icon="refresh" onClick={() => setIsOpen(true)}>
        {t.replay}
      </Button>
      <Dialog
        title={t.replayTitle}
        description={t.replayText}
        isOpen={isOpen}
        onClose={close}
        size="wide"
      >
        <ActionForm
          document={ReplayEvents}
          schema={z.object({
            since: z.string().check(z.minLength(1, texts.required)),
            until: z.string(),
            types: z.array(z.string()),
          })}
          values={{
            since: inLocalTime(new Date(Date.now() - hourMs)),
            until: '',
            types: [] as string[],
          }}
          toInput={({ since, until, types }) => ({
            webhookId: webhook.id,
            ...(since ? { since: new Date(since).toISOString() } : {}),
            ...(until ? { until: new Date(until).toISOString() } : {}),
            ...(types.length > 0 ? { types: types as EventType[] } : {}),
          })}
          onDone={({ deliveryCount }) => {
            toast.done(t.replayed(deliveryCount));
            close();
          }}
          submit={t.replay}
          onCancel={close}
        >
          <TextField name="since" type="datetime-local" label={t.since} />
          <TextField
            name="until"
            type="datetime-local"
            label={t.until}
            hint={t.untilHint}
            isOptional
          />
          <CheckGroups
            name="types"
            label={t.replayTypes}
            hint={t.replayTypesHint}
            isOptional
            groups={groupsOfTypes(groups)
              .map(({ label, options }) => ({ label, choices: options.filter(gets) }))
              .filter(({ choices }) => choices.length > 0)}
          />
        </ActionForm>
      </Dialog>
    </>
  );
}
