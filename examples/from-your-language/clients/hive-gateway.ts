// Hive Gateway before Signet, and requests through it. By itself it sends no header of the client onward.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';

const { SIGNET = 'http://localhost:3000', TOKEN } = process.env;
const gateway = createGatewayRuntime({
  proxy: { endpoint: `${SIGNET}/graphql` },
  // Without it the gateway reads the schema by introspection.
  schema: readFileSync('../../schema.graphql', 'utf8'),
  propagateHeaders: {
    fromClientToSubgraphs: ({ request }) => {
      const authorization = request.headers.get('authorization');
      return authorization === null ? {} : { authorization };
    },
  },
});
const server = createServer(gateway).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;

async function ask(query: string, variables: object, headers?: Record<string, string>) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as {
    // biome-ignore lint/suspicious/noExplicitAny: the documents here have no generated types.
    data?: any;
    errors?: { extensions: { code: string } }[];
  };
}

const authorization = `Bearer ${TOKEN}`;
const username = 'hive-gateway';
const createUser = `mutation ($input: CreateUserInput!) {
  createUser(input: $input) {
    ... on CreateUserPayload { user { id username } }
    ... on ConflictError { code path }
  }
}`;
const input = { username, name: 'Ada Lovelace', primaryEmail: `${username}@example.com` };
const created = await ask(createUser, { input }, { authorization });
const { user } = created.data.createUser;
console.log('created', user.username);

const listed = await ask(
  'query ($username: String) { users(filter: { username: $username }) { edges { node { id } } } }',
  { username },
  { authorization },
);
console.log('listed', listed.data.users.edges.length);

// Null clears a field, and an absent one stays as it is: through the gateway too.
const patched = await ask(
  `mutation ($input: UpdateUserInput!) {
    updateUser(input: $input) { ... on UpdateUserPayload { user { name primaryEmail } } }
  }`,
  { input: { id: user.id, name: null } },
  { authorization },
);
const { name, primaryEmail } = patched.data.updateUser.user;
console.log('patched', name, primaryEmail);

const again = await ask(createUser, { input: { username } }, { authorization });
console.log('refused', again.data.createUser.code, again.data.createUser.path);

const unsigned = await ask('{ users { edges { node { id } } } }', {});
console.log('without a token', unsigned.errors?.[0]?.extensions.code);
await gateway[Symbol.asyncDispose]();
server.close();
