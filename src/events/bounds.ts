import { InvalidInputError } from '../errors.ts';

/** The largest message of an event, in bytes. */
export const maxMessageBytes = 256 * 1024;

// Of its JSON. The rest of a message says when, who and where.
const maxDataBytes = maxMessageBytes - 2048;

// A record of before that is too large can still be suspended, renamed and deleted.
const smallChangeBytes = 16 * 1024;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Asserts that each event is within {@link maxMessageBytes}, as far as what it tells is to blame: what is created, or what
 * changes.
 *
 * @param text The events as JSON.
 * @throws {InvalidInputError} which names the largest field.
 */
export function assertBounded(
  events: readonly { readonly type: string; readonly data: object }[],
  text: string,
): void {
  // Most are far from it. A character has at most three bytes in UTF-8.
  if (3 * text.length <= maxDataBytes) return;
  for (const { type, data } of events) {
    if (type.endsWith('.Deleted') || bytesOf(data) <= maxDataBytes) continue;
    const told: object = 'changes' in data ? (data.changes as object) : data;
    const fields = Object.entries(told).map(([field, value]) => [bytesOf(value), field] as const);
    if (fields.reduce((sum, [bytes]) => sum + bytes, 0) <= smallChangeBytes) continue;
    const [, largest = ''] = fields.toSorted(([a], [b]) => b - a)[0] ?? [];
    const message =
      'makes an event of more than 256 KiB: give it less, or change fewer fields at once';
    throw new InvalidInputError([{ path: [largest], code: 'TOO_LONG', message }]);
  }
}
