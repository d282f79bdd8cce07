import { type AnyVariables, stringifyDocument, type TypedDocumentNode } from '@urql/core';
import { servicePath } from '../service-url.ts';
import { sessionEnded } from '../session/ended.ts';
import { isIdle } from '../session/idle.ts';
import { type Refusal, refusalIn, rootResult } from './refusal.ts';

/** The address of the console's own GraphQL endpoint. */
export const endpoint = `${servicePath}/console/graphql`;

/** The header that the endpoint requires, so that no form of another site can send a POST. */
export const requiredHeaders = { 'x-signet-console': '1' };

/** A request that failed as a whole. */
export class RequestError extends Error {
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** How far the service's database was after this tab's last change; a service without replicas does not say. */
let position: string | null = null;
const positionHeader = 'signet-position';

/**
 * Fetches, and reports if the session has ended. Tells the service whether the person is active, and what the answer
 * must not be older than.
 */
export const fetchInSession: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  if (isIdle()) headers.set('x-signet-idle', '1');
  if (position !== null) headers.set(positionHeader, position);
  const response = await fetch(input, { ...init, headers });
  position = response.headers.get(positionHeader) ?? position;
  if (response.status === 401) sessionEnded();
  return response;
};

/**
 * Sends a query once, without the cache: for pages of the log and for searches, which would only fill it.
 *
 * @throws {RequestError} with the code of the first error.
 */
export async function send<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Data> {
  return (await post<Data>(stringifyDocument(document), variables, signal)).data;
}

/** Posts a document as text. */
async function post<Data>(
  query: string,
  variables: AnyVariables,
  signal?: AbortSignal,
): Promise<{ data: Data; extensions?: { dryRun?: DryRun } }> {
  const response = await fetchInSession(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...requiredHeaders },
    body: JSON.stringify({ query, variables }),
    ...(signal ? { signal } : {}),
  });
  const { data, errors, extensions } = (await response.json()) as {
    data?: Data;
    errors?: { message: string; extensions?: { code?: string } }[];
    extensions?: { dryRun?: DryRun };
  };
  const [error] = errors ?? [];
  if (error || data === undefined || data === null) {
    throw new RequestError(
      error?.message ?? `HTTP ${response.status}`,
      error?.extensions?.code ?? `HTTP_${response.status}`,
    );
  }
  return extensions ? { data, extensions } : { data };
}

/** What a dry run of a mutation came to. */
interface DryRun {
  readonly events: readonly RehearsedEvent[];
}

/** An event that a mutation would raise. */
export interface RehearsedEvent {
  /** Its name in the catalogue. */
  readonly type: string;
  /** Null for whoever may not read events. */
  readonly data: Readonly<Record<string, unknown>> | null;
}

/**
 * Runs a mutation dry: all is checked, and nothing is written.
 *
 * @throws {RequestError} with the code of the first error.
 */
export async function rehearse<Data extends object, Input extends object>(
  document: TypedDocumentNode<Data, { input: Input }>,
  input: Input,
  signal: AbortSignal,
): Promise<{ readonly events: readonly RehearsedEvent[]; readonly refusal: Refusal | undefined }> {
  // The first brace is that of the operation.
  const dry = stringifyDocument(document).replace('{', '@dryRun {');
  const { data, extensions } = await post<Data>(dry, { input }, signal);
  return {
    events: extensions?.dryRun?.events ?? [],
    refusal: refusalIn(rootResult(data)),
  };
}
