import type { CreateWebhookInput } from '../generated/graphql.ts';
import { ask, graphql, payload } from './graphql.ts';

/** Where a client sends its documents, and the token it sends along. */
export type Endpoint = { readonly url: string; readonly token: string };

const CreateWebhook = graphql(`
  mutation CreateWebhookForTest($input: CreateWebhookInput!) {
    createWebhook(input: $input) {
      __typename
      ... on CreateWebhookPayload { secret webhook { id } }
      ... on InvalidInputError { issues { path message } }
    }
  }
`);

/** Creates a webhook; it is on, and gets every event, unless the input says otherwise. */
export async function createWebhook(
  endpoint: Endpoint,
  input: Partial<CreateWebhookInput> & Pick<CreateWebhookInput, 'url'>,
): Promise<{ id: string; secret: string }> {
  const { createWebhook: result } = await ask(endpoint, CreateWebhook, {
    input: { name: 'A webhook', ...input },
  });
  const { webhook, secret } = payload(result, 'CreateWebhookPayload');
  return { id: webhook.id, secret };
}

const CreateUser = graphql(`
  mutation CreateUserForWebhook($username: String!) {
    createUser(input: { username: $username }) {
      __typename
      ... on CreateUserPayload { user { id } }
      ... on Error { message }
    }
  }
`);

/** Creates a user, which raises `User.Created`. */
export async function createUser(endpoint: Endpoint, username: string): Promise<{ id: string }> {
  const { createUser: result } = await ask(endpoint, CreateUser, { username });
  return payload(result, 'CreateUserPayload').user;
}
