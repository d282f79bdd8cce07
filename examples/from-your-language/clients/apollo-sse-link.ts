// Apollo Client's subscriptions as an event stream, by graphql-sse: for where a WebSocket cannot pass.
import { ApolloLink, Observable } from '@apollo/client';
import { print } from '@apollo/client/utilities';
import type { Client } from 'graphql-sse';

/** Sends each operation by a client of graphql-sse. */
export const serverSentEventsLink = (client: Client) =>
  new ApolloLink(
    ({ query, variables, operationName }) =>
      new Observable((observer) =>
        client.subscribe<Record<string, unknown>>(
          { query: print(query), variables, ...(operationName ? { operationName } : {}) },
          {
            next: (result) => observer.next(result as ApolloLink.Result),
            error: (error) => observer.error(error),
            complete: () => observer.complete(),
          },
        ),
      ),
  );
