import type { CombinedError, TypedDocumentNode } from '@urql/core';
import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { refreshed } from './refresh.ts';

/** One page of what is asked for as a whole. */
interface PageOf<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null };
}

/** What has come so far. */
export interface AllPages<Node> {
  /** Undefined until all pages are there. */
  readonly nodes: readonly Node[] | undefined;
  readonly error: CombinedError | undefined;
  readonly askAgain: () => void;
}

const mostPages = 50;

/**
 * Asks for all pages of a short list, such as what can be chosen from, and again after each change made here.
 *
 * @param query Takes `after`, and asks for 100 at a time, the most that the API lists.
 */
export function useAllPages<Data, Variables extends { after?: string | null | undefined }, Node>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Omit<Variables, 'after'>,
  connection: (data: Data) => PageOf<Node> | null | undefined,
): AllPages<Node> {
  const client = useClient();
  const [read, setRead] = useState<Pick<AllPages<Node>, 'nodes' | 'error'>>({
    nodes: undefined,
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
        const { edges = [], pageInfo } = connection(data) ?? {};
        nodes.push(...edges.map(({ node }) => node));
        if (!pageInfo?.hasNextPage) break;
        after = pageInfo.endCursor;
      }
      if (!isOver) setRead({ nodes, error: undefined });
    })();
    return () => {
      isOver = true;
    };
  }, [client, key, asked]);
  return { ...read, askAgain: () => setAsked(asked + 1) };
}
