import type { Refusal } from '../kit/api/refusal.ts';
import { Notice } from '../kit/controls/notice.tsx';
import { useMessages } from '../kit/language/language.ts';
import styles from './configuration.module.css';
import { configurationMessages } from './messages.ts';

/** Why a document is refused: each fault with its path into the document. */
export function Faults({ refusal: { issues } }: { refusal: Refusal }) {
  const t = useMessages(configurationMessages);
  return (
    <div role="alert">
      <Notice tone="bad" title={t.refusedTitle}>
        <ul className={styles.faults}>
          {issues.map(({ path, message }) => {
            const inDocument = path[0] === 'document' ? path.slice(1) : path;
            return (
              <li key={`${path.join('.')} ${message}`}>
                {inDocument.length > 0 ? <code>{inDocument.join('.')}</code> : t.whole}: {message}
              </li>
            );
          })}
        </ul>
      </Notice>
    </div>
  );
}
