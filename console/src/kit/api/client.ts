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
  // Cached data is shown at once, then replaced by the answer.
  requestPolicy: 'cache-and-network',
  exchanges: [
    cacheExchange({
      // Objects without an id are stored with their parent.
      keys: {
        Actor: () => null,
        ExplainedRule: () => null,
        ExplainedScope: () => null,
        InputIssue: () => null,
        OrganizationEmailDomain: () => null,
        Permission: () => null,
        PermissionHolder: () => null,
        ScopeSource: () => null,
        TokenExchangeExplanation: () => null,
      },
      possibleTypes: {
        Error: [
          'ConfigurationMovedError',
          'ConflictError',
          'InvalidInputError',
          'NotAllowedError',
          'NotFoundError',
          'VersionConflictError',
        ],
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
