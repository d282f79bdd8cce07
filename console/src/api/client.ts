import { cacheExchange } from '@urql/exchange-graphcache';
import type { Client as GraphQLSocket } from 'graphql-ws';
import { Client, fetchExchange, subscriptionExchange } from 'urql';
import { endpoint, fetchInSession, requiredHeaders } from './send.ts';
import { socket } from './socket.ts';

/** The client of the console's GraphQL endpoint: a cache by id, and the tab's one socket. */
export const client = new Client({
  url: endpoint,
  fetch: fetchInSession,
  fetchOptions: { headers: requiredHeaders },
  preferGetMethod: false,
  // What was seen before is on the screen at once; what it is by now follows.
  requestPolicy: 'cache-and-network',
  exchanges: [
    cacheExchange({
      // What has no id of its own belongs to what it is found in.
      keys: {
        Actor: () => null,
        ExplainedRule: () => null,
        ExplainedScope: () => null,
        InputIssue: () => null,
        OrganizationEmailDomain: () => null,
        ScopeSource: () => null,
        TokenExchangeExplanation: () => null,
      },
      possibleTypes: {
        Error: ['ConflictError', 'InvalidInputError', 'NotAllowedError', 'NotFoundError'],
      },
    }),
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query, variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: socket().subscribe(
            { query: query ?? '', variables: variables as Record<string, unknown> },
            sink as Parameters<GraphQLSocket['subscribe']>[1],
          ),
        }),
      }),
    }),
  ],
});
