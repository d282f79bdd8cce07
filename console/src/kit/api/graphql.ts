import { gql, type TypedDocumentNode } from '@urql/core';
import type { graphql as typed } from '../../generated/gql.ts';

const fragments = new Map<string, TypedDocumentNode>();

/**
 * Types a document and makes it ready to send. A fragment that it spreads is declared earlier in the same file, or in
 * a file that this one imports.
 *
 * Only the type of the generated function is used: its module holds the documents of all routes.
 */
export const graphql = ((source: string) => {
  const own = new Set([...source.matchAll(/\bfragment\s+(\w+)\s+on\b/g)].map(([, name]) => name));
  const spread = new Set(
    [...source.matchAll(/\.\.\.\s*(?!on\b)(\w+)/g)].map(([, name = '']) => name),
  );
  const needed = [...spread]
    .filter((name) => !own.has(name))
    .map((name) => {
      const fragment = fragments.get(name);
      if (!fragment) throw new Error(`no fragment ${name} is declared above this document`);
      return fragment;
    });
  const strings = [source, ...needed.map(() => '')];
  const document = gql(strings as unknown as TemplateStringsArray, ...needed); // A plain list of strings does for gql.
  for (const name of own) if (name) fragments.set(name, document);
  return document;
}) as unknown as typeof typed; // The overloads are the generated ones; what comes back is a typed document either way.
