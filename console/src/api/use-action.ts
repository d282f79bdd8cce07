import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { useState } from 'react';
import { useClient } from 'urql';
import { toast } from '../dialogs/toasts.ts';
import { useMessages } from '../language/language.ts';
import { apiMessages } from './messages.ts';
import { refresh } from './refresh.ts';
import { type Refusal, refusalIn } from './refusal.ts';

/** A mutation's document: one field, whose result is a union of a payload and refusals. */
export type ActionDocument<Result extends object, Input> = TypedDocumentNode<
  Record<string, Result>,
  { input: Input }
>;

/** The payload among a mutation's results. */
export type PayloadOf<Result> = Exclude<Result, { code: string }>;

/** How a mutation ended. A failure is one that no form can fix; it has been shown already. */
export type Outcome<Payload> =
  | { readonly kind: 'done'; readonly payload: Payload }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'failed' };

/** The input of a mutation's document. */
export type InputOf<Document> =
  Document extends TypedDocumentNode<infer _Data, infer Variables>
    ? Variables extends { input: infer Input }
      ? Input
      : never
    : never;

type ResultOf<Document> =
  Document extends TypedDocumentNode<infer Data, infer _Variables>
    ? Exclude<Data[keyof Data & string], string>
    : never;

/** The payload of a mutation's document. */
export type PayloadOfDocument<Document> = PayloadOf<ResultOf<Document>>;

/** Runs a mutation: refusals come back, failures are shown, and what is on the screen is asked for again. */
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

const rootResult = (data: object): object =>
  Object.entries(data).find(([field]) => field !== '__typename')?.[1] as object;
