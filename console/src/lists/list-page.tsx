import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import type { ReactNode } from 'react';
import { useData } from '../api/use-data.ts';
import { Button } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import { Page } from '../records/page.tsx';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { EmptyState } from '../states/state.tsx';
import { type Address, useAddress, valuesOf } from './address.ts';
import { type Column, DataTable, type Order } from './data-table.tsx';
import { Filter, type Option } from './filter.tsx';
import styles from './list-page.module.css';
import { listMessages } from './messages.ts';
import { Pager } from './pager.tsx';
import { RecordFilter, type RecordSearch } from './record-filter.tsx';
import { SearchBox } from './search-box.tsx';

/** The rows of a page of a list. */
export const pageSize = 50;

/** A connection with one page of rows. */
export interface Connection<Row> {
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor?: string | null;
    readonly endCursor?: string | null;
  };
}

/** A filter of a list: a parameter of the address. */
export interface ListFilter {
  readonly name: string;
  readonly label: string;
  readonly options?: readonly Option[];
  readonly isSingle?: boolean;
  /** In place of options: one record, found by a search. */
  readonly records?: RecordSearch;
}

/** What a list's query is given: the page, and what the address says. */
export interface ListVariables {
  readonly first?: number;
  readonly after?: string;
  readonly last?: number;
  readonly before?: string;
}

/** The order that the address asks for, as the API takes it. */
export const orderIn = <Field extends string>(address: Address) =>
  address['orderBy']
    ? {
        field: address['orderBy'] as Field,
        direction: address['direction'] === 'DESC' ? ('DESC' as const) : ('ASC' as const),
      }
    : undefined;

/**
 * The page of a list that the address asks for.
 *
 * @param of Where two lists are beside each other: the `page` of the one.
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

interface ListProps<Data, Variables extends AnyVariables, Row extends { readonly id: string }> {
  readonly label: string;
  readonly document: TypedDocumentNode<Data, Variables>;
  /** The query's variables for an address. */
  readonly variables: (address: Address) => Variables;
  readonly connection: (data: Data) => Connection<Row> | null | undefined;
  readonly columns: readonly Column<Row>[];
  readonly filters?: readonly ListFilter[];
  readonly hasSearch?: boolean;
  /** Where two lists are beside each other: what its page is called in the address. */
  readonly page?: string;
  /** What stands there as long as there is not one record. */
  readonly empty: ReactNode;
}

/** A list of records: search, filters, order, and page are in the address, and one request brings a page. */
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
}: ListProps<Data, Variables, Row>) {
  const t = useMessages(listMessages);
  const { address, change } = useAddress();
  const { data, error, isFetching, askAgain } = useData(document, variables(address));
  const names = cursorNames(pageName);
  const at = cursorsIn(address, pageName);
  const firstPage = { [names.after]: undefined, [names.before]: undefined };
  const order: Order = {
    by: address['orderBy'],
    direction: address['direction'] === 'DESC' ? 'DESC' : 'ASC',
  };
  const narrowing = ['search', ...filters.map(({ name }) => name)].filter((name) => address[name]);
  const page = data && connection(data);
  const rows = page?.edges.map(({ node }) => node) ?? [];
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
      {error && !page && <Failed error={error} onRetry={askAgain} />}
      {!page && !error && <Loading />}
      {page && rows.length > 0 && (
        <>
          <DataTable
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

/** A page that is a list. */
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
