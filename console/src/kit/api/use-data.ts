import type { AnyVariables, CombinedError, TypedDocumentNode } from '@urql/core';
import { useEffect } from 'react';
import { useQuery } from 'urql';
import { refreshed } from './refresh.ts';

/** The state of a query. */
export interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: CombinedError | undefined;
  /** Whether an answer is pending; older data may be shown meanwhile. */
  readonly isFetching: boolean;
  /** Runs the query again without the cache. */
  readonly refetch: () => void;
}

/** Runs a query, and runs it again after each mutation. */
export function useData<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false }: { pause?: boolean } = {},
): Asked<Data> {
  const [{ data, error, fetching, stale }, execute] = useQuery<Data, AnyVariables>({
    query,
    variables,
    pause,
  });
  useEffect(() => {
    if (pause) return undefined;
    return refreshed(() => execute({ requestPolicy: 'network-only' }));
  }, [execute, pause]);
  return {
    data,
    error,
    isFetching: fetching || stale,
    refetch: () => execute({ requestPolicy: 'network-only' }),
  };
}
