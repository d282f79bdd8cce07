import type { LoggedEvent } from './documents.ts';

/** What an event is about: its id, where it has one, and what it was called then. */
export interface Subject {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

type Data = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const nameIn = (data: Data): string | undefined =>
  text(data['name']) ??
  text(data['username']) ??
  text(data['primaryEmail']) ??
  text(data['primaryPhone']);

/** What an event is about. */
export function subjectOf({ type, data }: LoggedEvent): Subject {
  const user = data['user'];
  if (typeof user === 'object' && user !== null)
    return { id: text((user as Data)['id']), name: nameIn(user as Data) };
  if (type === 'IDENTIFIER_LOCKOUT') return { id: undefined, name: text(data['value']) };
  if (type === 'MESSAGE_RATE_LIMITED') return { id: undefined, name: text(data['recipient']) };
  return {
    id:
      text(data['id']) ??
      text(data['organizationRoleId']) ??
      text(data['organizationId']) ??
      text(data['roleId']),
    name: nameIn(data),
  };
}

/** A field before and after. */
export interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What an event changed: its `changes`, or what was added and removed. */
export function changesIn({ data }: LoggedEvent): readonly Change[] {
  const { changes } = data;
  if (typeof changes === 'object' && changes !== null)
    return Object.entries(changes as Record<string, { from?: unknown; to?: unknown }>).map(
      ([field, { from, to }]) => ({ field, from, to }),
    );
  return Object.entries(data).flatMap(([key, value]): Change[] => {
    if (!Array.isArray(value) || value.length === 0) return [];
    if (key.startsWith('added')) return [{ field: key, from: undefined, to: value }];
    if (key.startsWith('removed')) return [{ field: key, from: value, to: undefined }];
    return [];
  });
}

/** How an event is coloured: by what became of its subject. */
export function toneOf({ type }: LoggedEvent): 'good' | 'bad' | 'warn' | 'accent' | 'plain' {
  if (type.endsWith('_CREATED') || type === 'POST_REGISTER') return 'good';
  if (type.endsWith('_DELETED')) return 'bad';
  if (type === 'IDENTIFIER_LOCKOUT' || type === 'MESSAGE_RATE_LIMITED') return 'warn';
  if (type.endsWith('_UPDATED')) return 'accent';
  return 'plain';
}
