import autocannon from 'autocannon';
import type { BenchServer } from './server.ts';

const userFields =
  'id username name primaryEmail primaryPhone avatar profile customData isSuspended createdAt updatedAt';

interface Operation {
  readonly document: string;
  /** The variables of each request; `number` never repeats. */
  readonly variables: (number: number, userId: string) => object;
}

/** What the benches of mutations ask. */
export const operations: Record<string, Operation> = {
  createUser: {
    document: `mutation createUser($input: CreateUserInput!) {
      createUser(input: $input) { ... on CreateUserPayload { user { ${userFields} } } } }`,
    variables: (number) => ({ input: { username: `user${number}`, name: `User ${number}` } }),
  },
  updateUser: {
    document: `mutation updateUser($input: UpdateUserInput!) {
      updateUser(input: $input) { ... on UpdateUserPayload { user { ${userFields} } } } }`,
    variables: (number, id) => ({ input: { id, name: `User ${number}` } }),
  },
  user: {
    document:
      'query user($id: ID!) { user(id: $id) { id username name createdAt roles { edges { node { id name } } } } }',
    variables: (_number, id) => ({ id }),
  },
  users: {
    document: 'query users { users(first: 20) { edges { node { id username name createdAt } } } }',
    variables: () => ({}),
  },
};

/** What came of a round of requests. */
export interface Round {
  /** Requests a second. */
  readonly rate: number;
  /** In milliseconds, as those below. */
  readonly p50: number;
  readonly p99: number;
  /** The CPU time of the server's process for each request. */
  readonly cpuMs: number;
}

let number = 0;

/** Sends one of the {@link operations} to a server, again and again for so many seconds. */
export async function fire(
  server: BenchServer,
  name: string,
  connections: number,
  duration: number,
): Promise<Round> {
  const { document, variables } = operations[name] as Operation;
  const { url, path, headers, bodies } = server.load;
  const nextBody = () => {
    number += 1;
    return JSON.stringify({
      operationName: name,
      query: document,
      variables: variables(number, bodies[number % bodies.length] ?? ''),
    });
  };
  const first = await fetch(`${url}${path}`, { method: 'POST', headers, body: nextBody() });
  const text = await first.text();
  if (!first.ok || text.includes('"errors"') || !text.includes('"id"')) throw new Error(text);
  const before = await server.cpuMs();
  const result = await autocannon({
    url,
    connections,
    duration,
    requests: [
      {
        method: 'POST',
        path,
        headers,
        setupRequest: (request) => ({ ...request, body: nextBody() }),
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} refusals and ${result.errors} errors.`);
  }
  const { total } = result.requests;
  return {
    rate: total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpuMs: ((await server.cpuMs()) - before) / total,
  };
}
