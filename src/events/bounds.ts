import { InvalidInputError } from '../errors.ts';

/** The largest data of an event, in bytes of its JSON: its message then has at most 256 KiB. */
export const maxEventBytes = 254 * 1024;

// A record of before that is too large can still be suspended, renamed and deleted.
const smallChangeBytes = 16 * 1024;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Asserts that each event is within {@link maxEventBytes}, as far as what it tells is to blame: what is created, or what
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
  if (3 * text.length <= maxEventBytes) return;
  for (const { type, data } of events) {
    if (type.endsWith('.Deleted') || bytesOf(data) <= maxEventBytes) continue;
    const told: object = 'changes' in data ? (data.changes as object) : data;
    const fields = Object.entries(told).map(([field, value]) => [bytesOf(value), field] as const);
    if (fields.reduce((sum, [bytes]) => sum + bytes, 0) <= smallChangeBytes) continue;
    const [, largest = ''] = fields.toSorted(([a], [b]) => b - a)[0] ?? [];
    const message =
      'makes an event of more than 256 KiB: give it less, or change fewer fields at once';
    throw new InvalidInputError([{ path: [largest], code: 'TOO_LONG', message }]);
  }
}
