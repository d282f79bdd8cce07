// A client by genql: a query is an object, and its answer has the type of what the object asks for.
import { createClient } from '../generated/genql/index.ts';

const { SIGNET = 'http://localhost:3000', TOKEN } = process.env;
const signet = createClient({
  url: `${SIGNET}/graphql`,
  headers: { Authorization: `Bearer ${TOKEN}` },
});

const username = 'genql';
const { createUser: created } = await signet.mutation({
  createUser: {
    __args: {
      input: { username, name: 'Ada Lovelace', primaryEmail: `${username}@example.com` },
    },
    __typename: true,
    on_CreateUserPayload: { user: { id: true, username: true } },
    on_Error: { message: true },
  },
});
if (created.__typename !== 'CreateUserPayload') throw new Error(created.message);
console.log('created', created.user.username);

const { users } = await signet.query({
  users: { __args: { first: 10, filter: { username } }, edges: { node: { username: true } } },
});
console.log('listed', users.edges.length);

// Null clears a field, and an absent one stays as it is.
const { updateUser: patched } = await signet.mutation({
  updateUser: {
    __args: { input: { id: created.user.id, name: null } },
    __typename: true,
    on_UpdateUserPayload: { user: { name: true, primaryEmail: true } },
    on_Error: { message: true },
  },
});
if (patched.__typename !== 'UpdateUserPayload') throw new Error(patched.message);
console.log('patched', patched.user.name, patched.user.primaryEmail);

const { createUser: again } = await signet.mutation({
  createUser: {
    __args: { input: { username } },
    __typename: true,
    on_ConflictError: { code: true, path: true },
  },
});
if (again.__typename === 'ConflictError') console.log('refused', again.code, again.path);
