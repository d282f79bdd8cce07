import { CopyBlock } from '../kit/controls/copy.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { useMessages } from '../kit/language/language.ts';
import { webhookMessages } from './messages.ts';
import styles from './webhooks.module.css';

/** A signing secret, which cannot be read again. */
export function SecretOnce({ secret }: { secret: string }) {
  const t = useMessages(webhookMessages);
  return (
    <div className={styles.once}>
      <Notice tone="warn" title={t.secretTitle}>
        {t.secretText}
      </Notice>
      <div>
        <p className={styles.label}>{t.secret}</p>
        <CopyBlock label={t.secret} text={secret} />
      </div>
    </div>
  );
}
