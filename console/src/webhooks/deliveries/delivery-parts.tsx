import type { DeliveryStatus } from '../../generated/graphql.ts';
import { useAction } from '../../kit/api/use-action.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Button } from '../../kit/controls/button.tsx';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { toast } from '../../kit/toasts.ts';
import { Redeliver } from '../documents.ts';
import { webhookMessages } from '../messages.ts';
import styles from '../webhooks.module.css';

/** The state of a delivery. */
export function Status({ status }: { status: DeliveryStatus }) {
  const t = useMessages(webhookMessages);
  const tones = { PENDING: 'warn', SUCCEEDED: 'good', FAILED: 'bad' } as const;
  return (
    <Badge tone={tones[status]} hasDot>
      {t.statuses[status]}
    </Badge>
  );
}

/** The status of an attempt's answer. */
export function AnswerCode({ statusCode }: { statusCode?: number | null | undefined }) {
  const t = useMessages(webhookMessages);
  if (!statusCode) return <Badge tone="bad">{t.noAnswer}</Badge>;
  return <Badge tone={statusCode < 300 ? 'good' : 'bad'}>{statusCode}</Badge>;
}

/** A button that redelivers. */
export function RedeliverButton({
  delivery,
  isSmall = false,
}: {
  delivery: { readonly id: string };
  /** In a row: only an icon if there is little room. */
  isSmall?: boolean;
}) {
  const t = useMessages(webhookMessages);
  const { run, isRunning } = useAction(Redeliver);
  const button = (
    <Button
      size={isSmall ? 'small' : 'normal'}
      icon="refresh"
      isBusy={isRunning}
      onClick={async () => {
        const outcome = await run({ deliveryId: delivery.id });
        if (outcome.kind === 'refused') toast.failed(outcome.refusal.message);
        if (outcome.kind === 'done') toast.done(t.redelivering);
      }}
    >
      <span className={isSmall ? styles.redeliver : undefined}>{t.redeliver}</span>
    </Button>
  );
  if (!isSmall) return button;
  return (
    <span className={styles.inRow}>
      <span className={styles.copyInRow}>
        <CopyAs document={Redeliver} input={{ deliveryId: delivery.id }} isInRow />
      </span>
      {button}
    </span>
  );
}
