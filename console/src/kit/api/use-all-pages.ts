import type { CombinedError, TypedDocumentNode } from '@urql/core';
import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import type { PageInfo } from './page-info.ts';
import { refreshed } from './refresh.ts';

/** One page of the list. */
interface PageOf<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: PageInfo;
}

/** What has been loaded so far. */
export interface AllPages<Node, Data = unknown> {
  /** Undefined until all pages are loaded. */
  readonly nodes: readonly Node[] | undefined;
  /** The answer with the first of them. */
  readonly data: Data | undefined;
  readonly error: CombinedError | undefined;
  readonly refetch: () => void;
}

const mostPages = 50;

/**
 * Loads all pages of a short list, such as choices, and reloads them after each mutation.
 *
 * @param query Takes `after`, and asks for 100 records at a time, the most that the API allows.
 */
export function useAllPages<Data, Variables extends { after?: string | null | undefined }, Node>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Omit<Variables, 'after'>,
  connection: (data: Data) => PageOf<Node> | null | undefined,
): AllPages<Node, Data> {
  const client = useClient();
  const [read, setRead] = useState<Pick<AllPages<Node, Data>, 'nodes' | 'data' | 'error'>>({
    nodes: undefined,
    data: undefined,
    error: undefined,
  });
  const [asked, setAsked] = useState(0);
  const key = JSON.stringify(variables);
  useEffect(() => refreshed(() => setAsked((count) => count + 1)), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the variables; the rest never changes.
  useEffect(() => {
    let isOver = false;
    void (async () => {
      const nodes: Node[] = [];
      let first: Data | undefined;
      let after: string | null | undefined;
      for (let page = 0; page < mostPages && !isOver; page += 1) {
        const given = { ...variables, after } as Variables;
        const { data, error } = await client
          .query(query, given, { requestPolicy: 'network-only' })
          .toPromise();
        if (isOver) return;
        if (error || !data) {
          setRead((before) => ({ ...before, error }));
          return;
        }
        first ??= data;
        const { edges = [], pageInfo } = connection(data) ?? {};
        nodes.push(...edges.map(({ node }) => node));
        if (!pageInfo?.hasNextPage) break;
        after = pageInfo.endCursor;
      }
      if (!isOver) setRead({ nodes, data: first, error: undefined });
    })();
    return () => {
      isOver = true;
    };
  }, [client, key, asked]);
  return { ...read, refetch: () => setAsked(asked + 1) };
}
