import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { useState } from 'react';
import { useClient } from 'urql';
import { useMessages } from '../language/language.ts';
import { toast } from '../toasts.ts';
import { apiMessages } from './messages.ts';
import { refresh } from './refresh.ts';
import { type Refusal, refusalIn, rootResult } from './refusal.ts';

/** The outcome of a mutation. A failure is one that no form can fix; it has already been shown. */
export type Outcome<Payload> =
  | { readonly kind: 'done'; readonly payload: Payload }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'failed' };

type ResultOf<Document> =
  Document extends TypedDocumentNode<infer Data, infer _Variables>
    ? Exclude<Data[keyof Data & string], string>
    : never;

/** The payload in the results of a mutation's document: the member that is not a refusal. */
export type PayloadOfDocument<Document> = Exclude<ResultOf<Document>, { code: string }>;

/** Runs a mutation. Returns refusals, shows failures, and reloads the queries on the screen. */
export function useAction<Data extends object, Variables extends { input: object }>(
  document: TypedDocumentNode<Data, Variables>,
) {
  type Document = TypedDocumentNode<Data, Variables>;
  const client = useClient();
  const t = useMessages(apiMessages);
  const [isRunning, setIsRunning] = useState(false);
  const run = async (input: Variables['input']): Promise<Outcome<PayloadOfDocument<Document>>> => {
    setIsRunning(true);
    try {
      const { data, error } = await client
        .mutation(document, { input } as unknown as AnyVariables & Variables) // The input is all there is.
        .toPromise();
      if (error || !data) {
        const code = error?.graphQLErrors[0]?.extensions['code'];
        toast.failed(
          code === 'FORBIDDEN' ? t.forbidden : t.failed,
          error?.graphQLErrors[0]?.message ?? t.unreachable,
        );
        return { kind: 'failed' };
      }
      const result = rootResult(data);
      const refusal = refusalIn(result);
      if (refusal) return { kind: 'refused', refusal };
      refresh();
      return { kind: 'done', payload: result as PayloadOfDocument<Document> };
    } finally {
      setIsRunning(false);
    }
  };
  return { run, isRunning };
}
