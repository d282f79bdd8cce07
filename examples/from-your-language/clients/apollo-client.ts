// Apollo Client 4 with the documents of gql.tada. Its subscriptions go over WebSocket: the protocol that it asks for by
// itself (`multipart/mixed;subscriptionSpec=1.0`) Signet does not speak.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, ServerError } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { initGraphQLTada } from 'gql.tada';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import type { introspection } from '../generated/gql-tada/graphql-env.d.ts';
import fragments from '../generated/graphql-codegen/possible-types.ts';

const graphql = initGraphQLTada<{ introspection: introspection }>();
const { SIGNET = 'http://localhost:3000', TOKEN } = process.env;

const http = new HttpLink({
  uri: `${SIGNET}/graphql`,
  headers: { authorization: `Bearer ${TOKEN}` },
});
const socket = createClient({
  url: `${SIGNET.replace(/^http/, 'ws')}/graphql`,
  connectionParams: () => ({ authorization: `Bearer ${TOKEN}` }),
});
const signet = new ApolloClient({
  // Without the possible types, the cache drops what `... on Error` asks for.
  cache: new InMemoryCache({ possibleTypes: fragments.possibleTypes }),
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    http,
  ),
});

const CreateUser = graphql(`
  mutation CreateUser($input: CreateUserInput!) {
    createUser(input: $input) {
      __typename
      ... on CreateUserPayload { user { id username } }
      ... on ConflictError { code path }
      ... on Error { message }
    }
  }
`);
const Users = graphql(`
  query Users($filter: UserFilter) {
    users(first: 10, filter: $filter) { edges { node { id username } } }
  }
`);
const UpdateUser = graphql(`
  mutation UpdateUser($input: UpdateUserInput!) {
    updateUser(input: $input) {
      __typename
      ... on UpdateUserPayload { user { id name primaryEmail } }
      ... on Error { message }
    }
  }
`);
const LastEvent = graphql(`query LastEvent { events(last: 1) { edges { cursor } } }`);
const Events = graphql(`
  subscription Events($after: String) { events(types: [USER_CREATED], after: $after) { name } }
`);

const last = await signet.query({ query: LastEvent });
const after = last.data?.events.edges.at(-1)?.cursor;

const username = 'apollo-client';
const input = { username, name: 'Ada Lovelace', primaryEmail: `${username}@example.com` };
const { data: { createUser: created } = {} } = await signet.mutate({
  mutation: CreateUser,
  variables: { input },
});
if (created?.__typename !== 'CreateUserPayload') throw new Error(created?.message);
console.log('created', created.user.username);

const { data: { users } = {} } = await signet.query({
  query: Users,
  variables: { filter: { username } },
});
console.log('listed', users?.edges.length);

// Null clears a field, and an absent one stays as it is.
const { data: { updateUser: patched } = {} } = await signet.mutate({
  mutation: UpdateUser,
  variables: { input: { id: created.user.id, name: null } },
});
if (patched?.__typename !== 'UpdateUserPayload') throw new Error(patched?.message);
console.log('patched', patched.user.name, patched.user.primaryEmail);

const { data: { createUser: again } = {} } = await signet.mutate({
  mutation: CreateUser,
  variables: { input: { username } },
});
if (again?.__typename === 'ConflictError') console.log('refused', again.code, again.path);
if (again?.__typename === 'ConflictError') console.log('because', again.message);

const name = await new Promise((resolve, reject) => {
  signet.subscribe({ query: Events, variables: { after } }).subscribe({
    next: ({ data, error }) => (data ? resolve(data.events.name) : reject(error)),
    error: reject,
  });
});
console.log('followed', name);
await socket.dispose();

// What Apollo Client is answered without the socket.
const withoutSocket = new ApolloClient({ cache: new InMemoryCache(), link: http });
const refused = await new Promise((resolve) => {
  withoutSocket.subscribe({ query: Events, variables: { after } }).subscribe({
    next: ({ error }) => resolve(error),
    error: resolve,
  });
});
if (ServerError.is(refused)) {
  const { errors } = JSON.parse(refused.bodyText);
  console.log('without a socket', refused.statusCode, errors[0].message);
}
