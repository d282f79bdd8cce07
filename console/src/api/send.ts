import { type AnyVariables, stringifyDocument, type TypedDocumentNode } from '@urql/core';
import { servicePath } from '../service-url.ts';
import { sessionEnded } from '../session/ended.ts';
import { isIdle } from '../session/idle.ts';

/** The address of the console's own GraphQL endpoint. */
export const endpoint = `${servicePath}/console/graphql`;

/** What the endpoint asks of a POST, so that no form of another site can send one. */
export const requiredHeaders = { 'x-signet-console': '1' };

/** A request that the endpoint declined as a whole. */
export class RequestError extends Error {
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** Fetches, and says so where the session has ended. The service hears whether somebody is at the page. */
export const fetchInSession: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  if (isIdle()) headers.set('x-signet-idle', '1');
  const response = await fetch(input, { ...init, headers });
  if (response.status === 401) sessionEnded();
  return response;
};

/**
 * Asks once and keeps nothing: for pages of the log and for searches, which would only fill the cache.
 *
 * @throws {RequestError} with the code of the first error.
 */
export async function send<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Data> {
  const response = await fetchInSession(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...requiredHeaders },
    body: JSON.stringify({ query: stringifyDocument(document), variables }),
    ...(signal ? { signal } : {}),
  });
  const { data, errors } = (await response.json()) as {
    data?: Data;
    errors?: { message: string; extensions?: { code?: string } }[];
  };
  const [error] = errors ?? [];
  if (error || data === undefined || data === null) {
    throw new RequestError(
      error?.message ?? `HTTP ${response.status}`,
      error?.extensions?.code ?? `HTTP_${response.status}`,
    );
  }
  return data;
}
