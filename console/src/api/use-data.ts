import type { AnyVariables, CombinedError, TypedDocumentNode } from '@urql/core';
import { useEffect } from 'react';
import { useQuery } from 'urql';
import { refreshed } from './refresh.ts';

/** What a query has brought so far. */
export interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: CombinedError | undefined;
  /** Whether an answer is awaited; there may be older data meanwhile. */
  readonly isFetching: boolean;
  /** Asks again, past the cache. */
  readonly askAgain: () => void;
}

/** Asks a query, and again after each change made here. */
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
    askAgain: () => execute({ requestPolicy: 'network-only' }),
  };
}
