// Makes a change that happens once, however often it is asked for: TOKEN=… node examples/change-once.js
const { SIGNET = 'http://localhost:3000', TOKEN } = process.env;

async function change(query, variables) {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  };
  const body = JSON.stringify({ query, variables });
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(`${SIGNET}/graphql`, { method: 'POST', headers, body }).catch(
      () => undefined,
    );
    // No answer, the same change under way elsewhere, or a database that is away: the key makes it safe to ask again.
    if (response && ![409, 503].includes(response.status)) return response.json();
    await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** Math.min(attempt, 6)));
  }
}

const { data, errors } = await change(
  `mutation ($input: CreateUserInput!) {
    createUser(input: $input) { ... on CreateUserPayload { user { id } } ... on Error { message } }
  }`,
  { input: { name: 'Once' } },
);
if (errors) throw new Error(JSON.stringify(errors));
console.log(data.createUser.user.id);
