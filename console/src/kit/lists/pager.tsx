import type { Address } from '../address.ts';
import type { PageInfo } from '../api/page-info.ts';
import { Button } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import styles from './list-page.module.css';
import { listMessages } from './messages.ts';

/** The buttons for the previous and next page. */
export function Pager({
  count,
  pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor },
  onPage,
}: {
  count: number;
  pageInfo: PageInfo;
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
