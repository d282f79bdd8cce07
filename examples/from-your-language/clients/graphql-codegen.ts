// Types of each document by GraphQL Code Generator's client preset; any client can send them, here `fetch`.

import type { TypedDocumentString } from '../generated/graphql-codegen/graphql.ts';
import { graphql } from '../generated/graphql-codegen/index.ts';

const { SIGNET = 'http://localhost:3000', TOKEN } = process.env;

async function ask<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const response = await fetch(`${SIGNET}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: document, variables }),
  });
  const { data, errors } = (await response.json()) as {
    data?: Data;
    errors?: { message: string }[];
  };
  // Only what no form can mend is here: refusals are members of the result.
  if (!data || errors) throw new Error(errors?.map(({ message }) => message).join());
  return data;
}

const CreateUser = graphql(`
  mutation CreateUser($input: CreateUserInput!) {
    createUser(input: $input) {
      __typename
      ... on CreateUserPayload { user { id username } }
      ... on ConflictError { code path }
      ... on Error { message }
    }
  }
`);
const Users = graphql(`
  query Users($filter: UserFilter) {
    users(first: 10, filter: $filter) { edges { node { id username } } }
  }
`);
const UpdateUser = graphql(`
  mutation UpdateUser($input: UpdateUserInput!) {
    updateUser(input: $input) {
      __typename
      ... on UpdateUserPayload { user { name primaryEmail } }
      ... on Error { message }
    }
  }
`);

const username = 'graphql-codegen';
const { createUser: created } = await ask(CreateUser, {
  input: { username, name: 'Ada Lovelace', primaryEmail: `${username}@example.com` },
});
if (created.__typename !== 'CreateUserPayload') throw new Error(created.message);
console.log('created', created.user.username);

const { users } = await ask(Users, { filter: { username } });
console.log('listed', users.edges.length);

// Null clears a field, and an absent one stays as it is.
const { updateUser: patched } = await ask(UpdateUser, {
  input: { id: created.user.id, name: null },
});
if (patched.__typename !== 'UpdateUserPayload') throw new Error(patched.message);
console.log('patched', patched.user.name, patched.user.primaryEmail);

const { createUser: again } = await ask(CreateUser, { input: { username } });
if (again.__typename === 'ConflictError') console.log('refused', again.code, again.path);
