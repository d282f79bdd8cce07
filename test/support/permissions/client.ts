import { ask, graphql } from '../operations/graphql.ts';
import type { TestService } from '../service.ts';

/** An access token of a new application that holds one scope of the management API alone. */
export type Token = string;

/** An answer of the AuthZEN API. */
export interface AuthZenAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint answers something else, which tests compare as a whole.
  readonly body: any;
}

/** Sends a body, text as it is, to an endpoint below `/access/v1`. */
export async function postAccess(
  { url }: Pick<TestService, 'url'>,
  token: Token | undefined,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<AuthZenAnswer> {
  const response = await fetch(`${url}/access/v1/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** Every result of a search, page by page. */
export async function searchAll(
  service: Pick<TestService, 'url'>,
  token: Token,
  path: 'search/subject' | 'search/action' | 'search/resource',
  body: object,
  limit: number,
): Promise<Record<string, string>[]> {
  const results: Record<string, string>[] = [];
  let next = '';
  do {
    const page = next === '' ? { limit } : { token: next };
    const { status, body: answer } = await postAccess(service, token, path, { ...body, page });
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`);
    results.push(...answer.results);
    next = answer.page.next_token;
  } while (next !== '');
  return results;
}

/** What a question about rights is about. */
export interface Where {
  readonly resource: string;
  readonly organizationId?: string | undefined;
}

const Permissions = graphql(`
  query Permissions($subjectId: ID!, $resource: String!, $organizationId: ID) {
    permissions(subjectId: $subjectId, resource: $resource, organizationId: $organizationId) {
      scope { __typename id name }
      sources { counts roleId role { id name } organizationRole { id name } organization { id name } }
    }
  }
`);

/** The query `permissions`. */
export const permissionsOf = async (
  { url }: Pick<TestService, 'url'>,
  token: Token,
  subjectId: string,
  where: Where,
) => (await ask({ url, token }, Permissions, { subjectId, ...where })).permissions;

const WhoCan = graphql(`
  query WhoCan(
    $resource: String!, $scope: String!, $organizationId: ID
    $first: Int, $after: String, $last: Int, $before: String
  ) {
    whoCan(
      resource: $resource, scope: $scope, organizationId: $organizationId
      first: $first, after: $after, last: $last, before: $before
    ) {
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges {
        cursor
        node {
          subjectId
          subject { __typename ... on User { id username isSuspended } ... on Application { id name } }
          sources { counts roleId role { id name } organizationRole { id name } organization { id name } }
        }
      }
    }
  }
`);

/** A page of the query `whoCan`. */
export const whoCan = async (
  { url }: Pick<TestService, 'url'>,
  token: Token,
  question: Where & {
    readonly scope: string;
    readonly first?: number;
    readonly after?: string;
    readonly last?: number;
    readonly before?: string;
  },
) => (await ask({ url, token }, WhoCan, question)).whoCan;

/** All of the query `whoCan`, page by page, forwards or backwards. */
export async function everyoneWhoCan(
  service: Pick<TestService, 'url'>,
  token: Token,
  question: Where & { readonly scope: string },
  size: number,
  direction: 'forwards' | 'backwards' = 'forwards',
) {
  const nodes: Awaited<ReturnType<typeof whoCan>>['edges'][number]['node'][] = [];
  let cursor: string | null | undefined;
  let hasMore = true;
  while (hasMore) {
    const page =
      direction === 'forwards'
        ? { first: size, ...(cursor == null ? {} : { after: cursor }) }
        : { last: size, ...(cursor == null ? {} : { before: cursor }) };
    const { edges, pageInfo } = await whoCan(service, token, { ...question, ...page });
    const found = edges.map(({ node }) => node);
    if (direction === 'forwards') {
      nodes.push(...found);
      ({ endCursor: cursor, hasNextPage: hasMore } = pageInfo);
    } else {
      nodes.unshift(...found);
      ({ startCursor: cursor, hasPreviousPage: hasMore } = pageInfo);
    }
  }
  return nodes;
}
