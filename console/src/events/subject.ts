import type { LoggedEvent } from './documents.ts';

/** What an event is about: its id, if it has one, and its name at that time. */
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
export function subjectOf({ type, data }: Pick<LoggedEvent, 'type' | 'data'>): Subject {
  const user = data['user'];
  if (typeof user === 'object' && user !== null)
    return { id: text((user as Data)['id']), name: nameIn(user as Data) };
  if (type === 'IDENTIFIER_LOCKOUT') return { id: undefined, name: text(data['value']) };
  if (type === 'MESSAGE_RATE_LIMITED') return { id: undefined, name: text(data['recipient']) };
  // Beside a user's id, `name` is that of a credential.
  const userId = text(data['userId']);
  return {
    id:
      text(data['id']) ??
      text(data['organizationRoleId']) ??
      text(data['organizationId']) ??
      text(data['roleId']) ??
      userId ??
      text(data['applicationId']),
    name: userId === undefined ? nameIn(data) : undefined,
  };
}

/** A field before and after. */
export interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** The changes of an event: its `changes`, or the entries added and removed. */
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

/** The color of an event, by what happened to its subject. */
export function toneOf({ type }: LoggedEvent): 'good' | 'bad' | 'warn' | 'accent' | 'plain' {
  if (type.endsWith('_CREATED') || type === 'POST_REGISTER') return 'good';
  if (type.endsWith('_DELETED')) return 'bad';
  if (type === 'IDENTIFIER_LOCKOUT' || type === 'MESSAGE_RATE_LIMITED') return 'warn';
  if (type.endsWith('_UPDATED')) return 'accent';
  return 'plain';
}
