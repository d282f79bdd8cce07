import { settled } from './log.ts';
import { ask, graphql } from './operations/graphql.ts';
import type { TestService } from './service.ts';

const Events = graphql(`
  query Events($after: String) {
    events(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      edges { node { id type name occurredAt data actor { type id clientId } } }
    }
  }
`);

/** An event as a client gets it. */
export interface EventSeen {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly data: Record<string, unknown>;
  readonly actor?: { readonly type: string; readonly id?: string | null } | null;
}

/** Reads the whole event log over HTTP, oldest first. */
export async function events(endpoint: { url: string; token: string }): Promise<EventSeen[]> {
  const seen: EventSeen[] = [];
  let after: string | null | undefined = null;
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(endpoint, after);
    seen.push(...page.edges.map(({ node }) => node));
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined;
  } while (after);
  return seen;
}

/** Reads like {@link events}, once everything that is committed can be read: see {@link settled}. */
export async function settledEvents(
  { url, app }: TestService,
  token: string,
): Promise<EventSeen[]> {
  await settled(app.services.database);
  return events({ url, token });
}

const readPage = async (endpoint: { url: string; token: string }, after: string | null) =>
  (await ask(endpoint, Events, { after })).events;
