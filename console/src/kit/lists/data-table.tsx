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
  /** The least width at which it is shown: `medium` is 40 rem, `wide` is 64 rem. */
  readonly from?: 'medium' | 'wide';
  /** As narrow as its content. */
  readonly isNarrow?: boolean;
  /** Whether a text has as many lines as it needs. By default it has one, and its end is in the tooltip. */
  readonly wraps?: boolean;
}

/** A column with the time of creation, without header and cell. */
export const byCreation = {
  id: 'createdAt',
  orderBy: 'CREATED_AT',
  isNarrow: true,
  from: 'wide',
} as const;

/** How a table is ordered. */
export interface Order {
  readonly by: string | undefined;
  readonly direction: 'ASC' | 'DESC';
}

/** Which rows are chosen, by id. */
export interface Selection<Row> {
  readonly chosen: ReadonlySet<string>;
  readonly nameOf: (row: Row) => string;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

/** A table of records. The first column holds the link to the record; the whole row leads there. */
export function DataTable<Row extends { readonly id: string }>({
  label,
  columns,
  rows,
  order,
  onOrder,
  isStale = false,
  selection,
}: {
  selection?: Selection<Row> | undefined;
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
            {selection && (
              <th scope="col" className={styles.narrow}>
                <input
                  type="checkbox"
                  aria-label={t.selectAll}
                  checked={rows.every(({ id }) => selection.chosen.has(id))}
                  onChange={({ target }) =>
                    selection.onChange(new Set(target.checked ? rows.map(({ id }) => id) : []))
                  }
                />
              </th>
            )}
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
              {selection && (
                <td className={styles.narrow}>
                  <label className={styles.tick}>
                    <input
                      type="checkbox"
                      aria-label={t.selectNamed(selection.nameOf(row))}
                      checked={selection.chosen.has(row.id)}
                      onChange={({ target }) => {
                        const others = [...selection.chosen].filter((id) => id !== row.id);
                        selection.onChange(new Set(target.checked ? [...others, row.id] : others));
                      }}
                    />
                  </label>
                </td>
              )}
              {columns.map(({ id, cell, from, isNarrow, wraps }) => {
                const content = cell(row);
                const text = typeof content === 'string' && !isNarrow && !wraps;
                return (
                  <td
                    key={id}
                    className={classes(
                      from && styles[from],
                      isNarrow && styles.narrow,
                      text && styles.line,
                    )}
                    title={text ? content : undefined}
                  >
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The class of the link that a whole row leads to. */
export const rowLink = styles.rowLink;

/** The class of other controls in a row that is a link. */
export const aboveRowLink = styles.above;

/** The class of several buttons at the end of a row. */
export const rowActions = styles.actions;
