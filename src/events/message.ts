import type { EventText, LoggedEvent } from './log.ts';

/**
 * The message that carries an event out of Signet: `{ id, type, timestamp, actor, data }`. JSON text is inserted as it
 * is, without parsing.
 *
 * @param result The result of a GraphQL document executed on the event, as a JSON object. Its members replace `data`.
 */
export function messageOfText(event: EventText, result: string | null = null): string {
  const { id, type, occurredAt, actor, data } = event;
  const head = JSON.stringify({ id, type, timestamp: occurredAt });
  const tail = result === null ? `"data":${data}}` : result.slice(1);
  return `${head.slice(0, -1)},"actor":${actor ?? 'null'},${tail}`;
}

/** The message that carries an event out of Signet. */
export const messageOf = ({ actor, data, ...event }: LoggedEvent): string =>
  messageOfText({
    ...event,
    actor: actor === null ? null : JSON.stringify(actor),
    data: JSON.stringify(data),
  });
