import { readFileSync } from 'node:fs';
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

const { eventTypes } = JSON.parse(
  readFileSync(new URL('../fixtures/events.json', import.meta.url), 'utf8'),
) as { eventTypes: Record<string, string[]> };

/** The types of the first catalogue: its rows say exactly which of them an action raises. */
export const firstTypes: ReadonlySet<string> = new Set(Object.values(eventTypes).flat());

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

const refusalTypes = ['SignIn.Failed', 'Token.Refused'];

/** The events that are written with what they tell of. Those of refusals come by themselves, a little later. */
export const withoutRefusals = { type: { notIn: refusalTypes } };

/**
 * Reads like {@link events}, once everything that is committed can be read: see {@link settled}. Leaves out those of
 * refusals: see {@link withoutRefusals}.
 */
export async function settledEvents(
  { url, app }: TestService,
  token: string,
): Promise<EventSeen[]> {
  await settled(app.services.database);
  const all = await events({ url, token });
  return all.filter(({ name }) => !refusalTypes.includes(name));
}

const readPage = async (endpoint: { url: string; token: string }, after: string | null) =>
  (await ask(endpoint, Events, { after })).events;
