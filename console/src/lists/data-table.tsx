import type { ReactNode } from 'react';
import { classes } from '../controls/classes.ts';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import styles from './data-table.module.css';
import { listMessages } from './messages.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** The value of `orderBy` that orders by this column. */
  readonly orderBy?: string;
  /** Shown only where there is room: `medium` from 40 rem, `wide` from 64 rem. */
  readonly from?: 'medium' | 'wide';
  /** As narrow as its content. */
  readonly isNarrow?: boolean;
}

/** How a table is ordered. */
export interface Order {
  readonly by: string | undefined;
  readonly direction: 'ASC' | 'DESC';
}

/** A table of records. The first column holds the link to the record; the whole row leads there. */
export function DataTable<Row extends { readonly id: string }>({
  label,
  columns,
  rows,
  order,
  onOrder,
  isStale = false,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  order?: Order;
  onOrder?: (order: Order) => void;
  isStale?: boolean;
}) {
  const t = useMessages(listMessages);
  return (
    <div className={styles.frame}>
      <table className={styles.table} aria-label={label} aria-busy={isStale}>
        <thead>
          <tr>
            {columns.map(({ id, header, orderBy, from, isNarrow }) => {
              const isOrdered = orderBy !== undefined && order?.by === orderBy;
              const descends = isOrdered && order.direction === 'DESC';
              return (
                <th
                  key={id}
                  scope="col"
                  className={classes(from && styles[from], isNarrow && styles.narrow)}
                  aria-sort={isOrdered ? (descends ? 'descending' : 'ascending') : undefined}
                >
                  {orderBy && onOrder ? (
                    <button
                      type="button"
                      className={styles.order}
                      title={t.sortedBy(header)}
                      onClick={() =>
                        onOrder({ by: orderBy, direction: isOrdered && !descends ? 'DESC' : 'ASC' })
                      }
                    >
                      {header}
                      <span className={isOrdered ? styles.ordered : styles.orderable}>
                        <Icon name={isOrdered ? (descends ? 'down' : 'up') : 'sort'} size={12} />
                      </span>
                    </button>
                  ) : (
                    header || <span className="visually-hidden">{id}</span>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              {columns.map(({ id, cell, from, isNarrow }) => (
                <td key={id} className={classes(from && styles[from], isNarrow && styles.narrow)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The class of the link that a whole row leads to. */
export const rowLink = styles.rowLink;

/** The class of what can be clicked in a row beside its link. */
export const aboveRowLink = styles.above;
