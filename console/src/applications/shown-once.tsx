import { CopyBlock } from '../kit/controls/copy.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { useMessages } from '../kit/language/language.ts';
import styles from './applications.module.css';
import { applicationMessages } from './messages.ts';

/** Credentials that cannot be read again. */
export function ShownOnce({ clientId, secret }: { clientId: string; secret: string | null }) {
  const t = useMessages(applicationMessages);
  return (
    <div className={styles.once}>
      {secret && (
        <Notice tone="warn" title={t.secretTitle}>
          {t.secretText}
        </Notice>
      )}
      <div>
        <p className={styles.name}>{t.clientId}</p>
        <CopyBlock label={t.clientId} text={clientId} />
      </div>
      {secret && (
        <div>
          <p className={styles.name}>{t.secret}</p>
          <CopyBlock label={t.secret} text={secret} />
        </div>
      )}
    </div>
  );
}
