import type { TypedDocumentString } from '../../generated/graphql.ts';

export { graphql } from '../../generated/gql.ts';

/** An answer of `/graphql`: the status, and the body as sent. */
export interface GraphQLAnswer<Data> {
  readonly status: number;
  readonly data: Data | null | undefined;
  readonly errors:
    | readonly {
        readonly message: string;
        readonly extensions: Readonly<Record<string, unknown>>;
      }[]
    | undefined;
}

/** Sends one document over HTTP, as a client does; a document in plain text is untyped. */
export async function send<Data, Variables = Record<string, never>>(
  { url, token }: { url: string; token?: string | undefined },
  document: TypedDocumentString<Data, Variables> | string,
  ...[variables]: Variables extends Record<string, never> ? [] : [Variables]
): Promise<GraphQLAnswer<Data>> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query: document.toString(), variables }),
  });
  return {
    status: response.status,
    ...((await response.json()) as Omit<GraphQLAnswer<Data>, 'status'>),
  };
}

/** Sends one document and returns its data; anything else fails the test. */
export async function ask<Data, Variables>(
  endpoint: { url: string; token?: string | undefined },
  document: TypedDocumentString<Data, Variables>,
  ...variables: Variables extends Record<string, never> ? [] : [Variables]
): Promise<Data> {
  const { status, data, errors } = await send(endpoint, document, ...variables);
  if (status !== 200 || errors || !data) {
    throw new Error(`GraphQL answered ${status}: ${JSON.stringify(errors)}`);
  }
  return data;
}

/** Narrows a mutation's result to its payload; a refusal fails the test. */
export function payload<Result extends { __typename?: string }, Name extends `${string}Payload`>(
  result: Result,
  name: Name,
): Extract<Result, { __typename?: Name }> {
  if (result.__typename === name) return result as Extract<Result, { __typename?: Name }>;
  throw new Error(`${name} was expected: ${JSON.stringify(result)}`);
}
