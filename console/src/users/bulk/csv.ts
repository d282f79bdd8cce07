import type { UsersQuery } from '../../generated/graphql.ts';
import { csvText } from '../../kit/save-file.ts';

/** A user as the list has it. */
export type ListedUser = UsersQuery['users']['edges'][number]['node'];

const columns = [
  'id',
  'name',
  'username',
  'primaryEmail',
  'primaryPhone',
  'isSuspended',
  'lastSignInAt',
  'createdAt',
] as const satisfies readonly (keyof ListedUser)[];

/** Users as CSV. */
export const csvOf = (users: readonly ListedUser[]): string =>
  csvText([columns, ...users.map((user) => columns.map((column) => String(user[column] ?? '')))]);
