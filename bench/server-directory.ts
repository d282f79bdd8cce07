import { systemClock } from '../src/clock.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { announce } from './server.ts';
import { signManagementToken, startWholeService } from './whole-service.ts';

// The whole service on a filled directory, with a token that may do everything.

const app = await startWholeService();

const { database } = app.services;
const { id } = await seedDirectory(database, systemClock).createClient();
const token = await signManagementToken(app, id);
announce({
  url: app.url,
  path: '/graphql',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  bodies: [],
});
