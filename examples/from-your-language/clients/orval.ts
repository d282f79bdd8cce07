// Types and requests by orval; `orval-fetch.ts` sends them.
import { createUser, updateUser, users } from '../generated/orval/signet.ts';

const username = 'orval';
const created = await createUser({
  username,
  name: 'Ada Lovelace',
  primaryEmail: `${username}@example.com`,
});
if (created.status !== 201) throw new Error(created.data.detail);
const { user } = created.data;
console.log('created', user.username);

const listed = await users({ username, first: 10 });
if (listed.status !== 200) throw new Error(listed.data.detail);
console.log('listed', listed.data.users.length);

// Null clears a field, and an absent one stays as it is.
const patched = await updateUser(user.id, { name: null });
if (patched.status !== 200) throw new Error(patched.data.detail);
console.log('patched', patched.data.user.name, patched.data.user.primaryEmail);

const again = await createUser({ username });
if (again.status === 409) console.log('refused', again.data.code, again.data.path);
