import { Button } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import type { Address } from './address.ts';
import styles from './list-page.module.css';
import type { Connection } from './list-page.tsx';
import { listMessages } from './messages.ts';

/** Leads through the pages of a list, by cursor. */
export function Pager({
  count,
  pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor },
  onPage,
}: {
  count: number;
  pageInfo: Connection<unknown>['pageInfo'];
  onPage: (to: Address) => void;
}) {
  const t = useMessages(listMessages);
  return (
    <nav className={styles.pager} aria-label={t.pages}>
      <span>{t.rowsOnPage(count)}</span>
      {(hasNextPage || hasPreviousPage) && (
        <span className={styles.steps}>
          <Button
            size="small"
            icon="left"
            disabled={!hasPreviousPage}
            onClick={() => onPage({ before: startCursor ?? undefined })}
          >
            {t.previous}
          </Button>
          <Button
            size="small"
            disabled={!hasNextPage}
            onClick={() => onPage({ after: endCursor ?? undefined })}
          >
            {t.next}
          </Button>
        </span>
      )}
    </nav>
  );
}
