import type { seedDirectory } from '../test/support/operations/directory.ts';
import { userCount } from './server.ts';

/** Creates the users that take turns, each with a role; returns their ids. */
export async function createReaders(
  directory: ReturnType<typeof seedDirectory>,
): Promise<string[]> {
  const orders = await directory.createResource(['read', 'write']);
  const users: string[] = [];
  for (let i = 0; i < userCount; i += 1) {
    const user = await directory.createUser();
    await directory.allowUser(user, orders, ['read']);
    users.push(user.id);
  }
  return users;
}
