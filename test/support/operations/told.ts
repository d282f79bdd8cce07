import { settled } from '../log.ts';
import type { TestService } from '../service.ts';

/** An event as an administrator reads it from the log. */
export interface Told {
  readonly name: string;
  readonly data: Record<string, unknown>;
  readonly actor: { readonly type: string; readonly id: string | null } | null;
}

/** Reads the log of a service as its administrator. */
export function logReader(service: TestService, admin: string) {
  const { database } = service.app.services;

  // biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
  async function ask(query: string, variables: object = {}): Promise<any> {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${admin}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }

  /** The cursor of the last event. */
  async function endOfLog(): Promise<string | null> {
    await settled(database);
    return (await ask('{ events(last: 1) { pageInfo { endCursor } } }')).events.pageInfo.endCursor;
  }

  /** The events after a cursor. */
  async function eventsSince(after: string | null): Promise<Told[]> {
    await settled(database);
    const { events } = await ask(
      `query ($after: String) { events(first: 100, after: $after) {
        edges { node { name data actor { type id } } } } }`,
      { after },
    );
    return events.edges.map(({ node }: { node: Told }) => node);
  }

  return { ask, endOfLog, eventsSince };
}
