// Apollo Client 4 with the documents of gql.tada. Its subscriptions go over WebSocket, or as an event stream: the protocol
// that it asks for by itself (`multipart/mixed;subscriptionSpec=1.0`) Signet does not speak.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, ServerError } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { initGraphQLTada } from 'gql.tada';
import { OperationTypeNode } from 'graphql';
import { createClient as createEventsClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import type { introspection } from '../generated/gql-tada/graphql-env.d.ts';
import fragments from '../generated/graphql-codegen/possible-types.ts';
import { serverSentEventsLink } from './apollo-sse-link.ts';

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
const events = createEventsClient({
  url: `${SIGNET}/graphql`,
  headers: () => ({ authorization: `Bearer ${TOKEN}` }),
});

const createApollo = (ofSubscriptions: ApolloLink) =>
  new ApolloClient({
    // Without the possible types, the cache drops what `... on Error` asks for.
    cache: new InMemoryCache({ possibleTypes: fragments.possibleTypes }),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      ofSubscriptions,
      http,
    ),
  });
const signet = createApollo(new GraphQLWsLink(socket));

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

/** The name of the first event. */
const follow = (client: ApolloClient) =>
  new Promise((resolve, reject) => {
    const following = client.subscribe({ query: Events, variables: { after } }).subscribe({
      next: ({ data, error }) => {
        if (data) resolve(data.events.name);
        else reject(error);
        following.unsubscribe();
      },
      error: reject,
    });
  });
console.log('followed', await follow(signet));
await socket.dispose();
console.log('followed by SSE', await follow(createApollo(serverSentEventsLink(events))));
events.dispose();

// What Apollo Client is answered by its own link.
const refused = await follow(createApollo(http)).catch((error) => error);
if (ServerError.is(refused)) {
  const { errors } = JSON.parse(refused.bodyText);
  console.log('by its own link', refused.statusCode, errors[0].message);
}
