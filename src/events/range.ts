import { instantOf } from '../graphql/lists/page.ts';
import { requestError } from '../graphql/request-error.ts';
import type { EventName } from './catalogue/catalogue.ts';
import { assertRetained, CursorExpired, type Reader } from './consumers.ts';
import type { EventFilter, LogRange } from './log.ts';
import { decodePosition, type EventPosition } from './position.ts';

/** What a request names of the log, before it is checked. */
interface Asked {
  readonly types?: readonly EventName[] | null | undefined;
  readonly subjectId?: string | null | undefined;
  readonly actorId?: string | null | undefined;
  readonly since?: Date | null | undefined;
  readonly until?: Date | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
}

/**
 * The part of the log that a request asks for.
 *
 * @throws BAD_USER_INPUT for a cursor or an instant that is none.
 */
export const rangeOf = (asked: Asked) =>
  ({
    filter: {
      types: asked.types ?? undefined,
      subjectId: asked.subjectId ?? undefined,
      actorId: asked.actorId ?? undefined,
      since: instantOf(asked, 'since'),
      until: instantOf(asked, 'until'),
    },
    after: positionOf(asked.after),
    before: positionOf(asked.before),
  }) satisfies LogRange;

/**
 * The position that a cursor of the log stands for; undefined for none.
 *
 * @throws BAD_USER_INPUT when it is malformed.
 */
export function positionOf(argument: string | null | undefined): EventPosition | undefined {
  if (argument == null) return undefined;
  const position = decodePosition(argument);
  if (!position)
    throw requestError('BAD_USER_INPUT', `"${argument}" is not a cursor of the event log.`);
  return position;
}

/**
 * Checks that the log can be read on from each of these cursors without a gap in what the filter selects.
 *
 * @throws CURSOR_EXPIRED
 */
export async function refuseExpired(
  prisma: Reader,
  { types }: Pick<EventFilter, 'types'>,
  ...cursors: readonly (EventPosition | undefined)[]
): Promise<void> {
  for (const cursor of cursors) if (cursor) await orExpired(assertRetained(prisma, cursor, types));
}

/** Makes the error CURSOR_EXPIRED of a check's. */
export async function orExpired(check: Promise<void>): Promise<void> {
  try {
    await check;
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error;
    throw requestError(
      'CURSOR_EXPIRED',
      'The log no longer holds all events after this cursor, or the cursor is from another log. Read the log again, and continue from its last cursor.',
    );
  }
}
