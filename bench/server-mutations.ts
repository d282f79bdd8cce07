import { systemClock } from '../src/clock.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { createReaders } from './readers.ts';
import { announce } from './server.ts';
import { signManagementToken, startWholeService } from './whole-service.ts';

// The whole service with users who have roles, and a token that may do everything. A body names a user.

const app = await startWholeService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });

const { database } = app.services;
const directory = seedDirectory(database, systemClock);
const users = await createReaders(directory);
const { id } = await directory.createClient();
await database.prisma.$executeRaw`ANALYZE`;

const token = await signManagementToken(app, id);
announce({
  url: app.url,
  path: '/graphql',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  bodies: users,
});
