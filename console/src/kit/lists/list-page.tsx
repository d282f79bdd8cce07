import { useLocation } from '@tanstack/react-router';
import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { type ReactNode, useEffect, useState } from 'react';
import { type Address, useAddress, valuesOf } from '../address.ts';
import type { PageInfo } from '../api/page-info.ts';
import { useData } from '../api/use-data.ts';
import { Button } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import { noteSeen } from '../records/last-seen.ts';
import { Page } from '../records/page.tsx';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { EmptyState } from '../states/state.tsx';
import { type Column, DataTable, type Order } from './data-table.tsx';
import { Filter, type Option } from './filter.tsx';
import styles from './list-page.module.css';
import { listMessages } from './messages.ts';
import { Pager } from './pager.tsx';
import { RecordFilter, type RecordSearch } from './record-filter.tsx';
import { SearchBox } from './search-box.tsx';

/** How many rows a page has. */
const pageSize = 50;

/** A connection with one page of rows. */
export interface Connection<Row> {
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: PageInfo;
}

/** A filter of a list: a parameter of the address. */
interface ListFilter {
  readonly name: string;
  readonly label: string;
  readonly options?: readonly Option[];
  readonly isSingle?: boolean;
  /** Instead of options: one record, found by a search. */
  readonly records?: RecordSearch;
}

/** The paging variables of a list's query. */
export interface ListVariables {
  readonly first?: number;
  readonly after?: string;
  readonly last?: number;
  readonly before?: string;
}

/** The order in the address, as the API's argument. */
export const orderIn = <Field extends string>(address: Address) =>
  address['orderBy']
    ? {
        field: address['orderBy'] as Field,
        direction: address['direction'] === 'DESC' ? ('DESC' as const) : ('ASC' as const),
      }
    : undefined;

/**
 * The paging variables in the address.
 *
 * @param of The list's `page`, if two lists share the address.
 */
export function pageIn(address: Address, of?: string): ListVariables {
  const { after, before } = cursorsIn(address, of);
  if (before) return { last: pageSize, before };
  return after ? { first: pageSize, after } : { first: pageSize };
}

const cursorNames = (of: string | undefined) =>
  of ? ({ after: `${of}After`, before: `${of}Before` } as const) : cursors;

const cursors = { after: 'after', before: 'before' } as const;

const cursorsIn = (address: Address, of: string | undefined) => {
  const { after, before } = cursorNames(of);
  return { after: address[after], before: address[before] };
};

/** What a list shows, and its query. */
export interface ListProps<
  Data,
  Variables extends AnyVariables,
  Row extends { readonly id: string },
> {
  readonly label: string;
  readonly document: TypedDocumentNode<Data, Variables>;
  /** The query's variables for an address. */
  readonly variables: (address: Address) => Variables;
  readonly connection: (data: Data) => Connection<Row> | null | undefined;
  readonly columns: readonly Column<Row>[];
  readonly filters?: readonly ListFilter[];
  readonly hasSearch?: boolean;
  /** The name of its page in the address, if two lists share it. */
  readonly page?: string;
  /** Shown while there are no records at all. */
  readonly empty: ReactNode;
  /** What can be done with several rows at once. */
  readonly bulk?: BulkActions<Row> | undefined;
}

/** What can be done with the rows of a list that are chosen. */
interface BulkActions<Row> {
  readonly nameOf: (row: Row) => string;
  /** Buttons; with `clear`, nothing is chosen any more. */
  readonly actions: (chosen: readonly Row[], clear: () => void) => ReactNode;
}

/** A list of records. Search, filters, order and page are in the address; each page takes one request. */
export function List<Data, Variables extends AnyVariables, Row extends { readonly id: string }>({
  label,
  document,
  variables,
  connection,
  columns,
  filters = [],
  hasSearch = true,
  page: pageName,
  empty,
  bulk,
}: ListProps<Data, Variables, Row>) {
  const t = useMessages(listMessages);
  const { address, change } = useAddress();
  const { data, error, isFetching, refetch } = useData(document, variables(address));
  const names = cursorNames(pageName);
  const at = cursorsIn(address, pageName);
  const firstPage = { [names.after]: undefined, [names.before]: undefined };
  const order: Order = {
    by: address['orderBy'],
    direction: address['direction'] === 'DESC' ? 'DESC' : 'ASC',
  };
  const narrowing = ['search', ...filters.map(({ name }) => name)].filter((name) => address[name]);
  const page = data && connection(data);
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    if (!hasSearch || pageName) return;
    const { create: _create, import: _import, ...seen } = address;
    noteSeen(path, seen);
  }, [path, address, hasSearch, pageName]);
  const rows = page?.edges.map(({ node }) => node) ?? [];
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  // Nothing is done to rows that are out of sight.
  const chosen = rows.filter(({ id }) => ticked.has(id));
  const clear = () => setTicked(new Set());
  return (
    <>
      {(hasSearch || filters.length > 0) && (
        <div className={styles.tools}>
          {hasSearch && (
            <SearchBox
              value={address['search'] ?? ''}
              onSearch={(search) => change({ search, ...firstPage }, { replace: true })}
            />
          )}
          {filters.map(({ name, label: filterLabel, options = [], isSingle, records }) =>
            records ? (
              <RecordFilter
                key={name}
                label={filterLabel}
                records={records}
                chosen={address[name]}
                onChange={(id) => change({ [name]: id, ...firstPage })}
              />
            ) : (
              <Filter
                key={name}
                label={filterLabel}
                groups={[{ options }]}
                isSingle={isSingle}
                chosen={valuesOf(address, name)}
                onChange={(chosen) => change({ [name]: chosen.join(','), ...firstPage })}
              />
            ),
          )}
        </div>
      )}
      {error && !page && <Failed error={error} onRetry={refetch} />}
      {!page && !error && <Loading />}
      {page && rows.length > 0 && (
        <>
          {bulk && chosen.length > 0 && (
            <div className={styles.bulk} role="toolbar" aria-label={t.selected(chosen.length)}>
              <span className={styles.bulkCount} role="status">
                {t.selected(chosen.length)}
              </span>
              {bulk.actions(chosen, clear)}
              <Button size="small" kind="quiet" onClick={clear}>
                {t.clearSelection}
              </Button>
            </div>
          )}
          <DataTable
            selection={
              bulk && {
                chosen: new Set(chosen.map(({ id }) => id)),
                nameOf: bulk.nameOf,
                onChange: setTicked,
              }
            }
            label={label}
            columns={columns}
            rows={rows}
            order={order}
            onOrder={({ by, direction }) => change({ orderBy: by, direction, ...firstPage })}
            isStale={isFetching}
          />
          {(hasSearch || page.pageInfo.hasNextPage || page.pageInfo.hasPreviousPage) && (
            <Pager
              count={rows.length}
              pageInfo={page.pageInfo}
              onPage={({ after, before }) =>
                change({ [names.after]: after, [names.before]: before })
              }
            />
          )}
        </>
      )}
      {page &&
        rows.length === 0 &&
        (narrowing.length > 0 || at.after || at.before ? (
          <EmptyState
            icon="search"
            title={t.nothingFits}
            action={
              <Button
                onClick={() =>
                  change({
                    ...firstPage,
                    ...Object.fromEntries(narrowing.map((name) => [name, undefined])),
                  })
                }
              >
                {t.clearFilters}
              </Button>
            }
          >
            {t.nothingFitsText}
          </EmptyState>
        ) : (
          empty
        ))}
    </>
  );
}

/** A page with one list. */
export const ListPage = <
  Data,
  Variables extends AnyVariables,
  Row extends { readonly id: string },
>({
  heading,
  lead,
  action,
  ...list
}: Omit<ListProps<Data, Variables, Row>, 'label'> & {
  heading: string;
  lead?: ReactNode;
  action?: ReactNode;
}) => (
  <Page heading={heading} lead={lead} actions={action}>
    <List label={heading} {...list} />
  </Page>
);
