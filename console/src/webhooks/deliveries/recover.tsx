import { useId, useState } from 'react';
import { refresh } from '../../kit/api/refresh.ts';
import { refusalIn, rootResult } from '../../kit/api/refusal.ts';
import { send } from '../../kit/api/send.ts';
import { Button } from '../../kit/controls/button.tsx';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { Dialog, DialogFooter } from '../../kit/dialogs/dialog.tsx';
import { inLocalTime } from '../../kit/forms/local-time.ts';
import { useMessages } from '../../kit/language/language.ts';
import { toast } from '../../kit/toasts.ts';
import { Redeliver, type ShownWebhook } from '../documents.ts';
import { webhookMessages } from '../messages.ts';
import styles from '../webhooks.module.css';
import { FailedDeliveries } from './documents.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const atMost = 1_000;

/** The ids of the deliveries that failed for good since a moment, the newest first. */
async function findFailed(webhookId: string, since: Date): Promise<readonly string[]> {
  const found: string[] = [];
  let after: string | undefined;
  while (found.length < atMost) {
    const { webhook } = await send(FailedDeliveries, { id: webhookId, after });
    if (!webhook) return found;
    const { edges, pageInfo } = webhook.deliveries;
    const recent = edges.filter(({ node }) => Date.parse(node.createdAt) >= since.getTime());
    found.push(...recent.map(({ node }) => node.id));
    if (recent.length < edges.length || !pageInfo.hasNextPage || !pageInfo.endCursor) return found;
    after = pageInfo.endCursor;
  }
  return found.slice(0, atMost);
}

/** Redelivers all that failed for good since a moment, in one go. */
export function RecoverFailed({ webhook: { id, failingSince } }: { webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const field = useId();
  const [isOpen, setIsOpen] = useState(false);
  const [since, setSince] = useState('');
  const [progress, setProgress] = useState<{ readonly done: number; readonly all: number }>();
  const open = () => {
    // The first attempt comes after the event.
    const from = failingSince ? Date.parse(failingSince) - minuteMs : Date.now() - dayMs;
    setSince(inLocalTime(new Date(from)));
    setIsOpen(true);
  };
  const recover = async () => {
    setProgress({ done: 0, all: 0 });
    try {
      const failed = await findFailed(id, new Date(since));
      const problems: string[] = [];
      for (const [index, deliveryId] of failed.entries()) {
        const refusal = refusalIn(rootResult(await send(Redeliver, { input: { deliveryId } })));
        if (refusal) problems.push(refusal.message);
        setProgress({ done: index + 1, all: failed.length });
      }
      if (problems.length > 0) toast.failed(t.notRecovered(problems.length), problems[0] ?? '');
      else toast.done(t.recovered(failed.length));
      setIsOpen(false);
    } catch (error) {
      toast.failed(t.recoverFailed, error instanceof Error ? error.message : String(error));
    } finally {
      setProgress(undefined);
      refresh();
    }
  };
  return (
    <>
      <Button onClick={open}>{t.recover}</Button>
      <Dialog
        title={t.recoverTitle}
        description={t.recoverText}
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        size="small"
      >
        <div className={styles.since}>
          <label htmlFor={field}>{t.since}</label>
          <input
            id={field}
            type="datetime-local"
            className={styles.sinceField}
            value={since}
            onChange={({ target }) => setSince(target.value)}
          />
        </div>
        {progress && <p role="status">{t.recovering(progress.done, progress.all)}</p>}
        <DialogFooter start={<CopyAs document={Redeliver} input={{ deliveryId: 'delivery_…' }} />}>
          <Button onClick={() => setIsOpen(false)}>{t.cancel}</Button>
          <Button
            kind="primary"
            isBusy={progress !== undefined}
            aria-disabled={since === ''}
            onClick={() => since !== '' && void recover()}
          >
            {t.recoverNow}
          </Button>
        </DialogFooter>
      </Dialog>
    </>
  );
}
