// Types and requests by @hey-api/openapi-ts.
import { client } from '../generated/hey-api/client.gen.ts';
import { createUser, updateUser, users } from '../generated/hey-api/index.ts';

const { SIGNET = 'http://localhost:3000', TOKEN = '' } = process.env;
client.setConfig({ baseUrl: `${SIGNET}/api`, auth: TOKEN });

const username = 'hey-api';
const created = await createUser({
  body: { username, name: 'Ada Lovelace', primaryEmail: `${username}@example.com` },
});
if (!created.data) throw new Error(created.error.detail);
const userId = created.data.user.id;
console.log('created', created.data.user.username);

const listed = await users({ query: { username, first: 10 } });
if (!listed.data) throw new Error(listed.error.detail);
console.log('listed', listed.data.users.length);

// Null clears a field, and an absent one stays as it is. Without the header it is sent as `application/json`, which means
// the same to Signet.
const patched = await updateUser({
  path: { userId },
  body: { name: null },
  headers: { 'Content-Type': 'application/merge-patch+json' },
});
if (!patched.data) throw new Error(patched.error.detail);
console.log('patched', patched.data.user.name, patched.data.user.primaryEmail);

const renamed = await updateUser({ path: { userId }, body: { name: 'Ada King' } });
if (!renamed.data) throw new Error(renamed.error.detail);
console.log('patched', renamed.data.user.name, renamed.data.user.primaryEmail);

const again = await createUser({ body: { username } });
if (again.error?.code === 'CONFLICT') console.log('refused', again.error.code, again.error.path);
