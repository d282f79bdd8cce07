import type { CreateWebhookInput, DeliveryStatus } from '../generated/graphql.ts';
import { ask, graphql, payload } from './operations/graphql.ts';
import type { TestService } from './service.ts';
import { eventually } from './wait.ts';

/** The URL and the token of a client. */
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

/**
 * Creates a webhook. By default it is enabled, and gets the events of {@link createUser} alone: every change is told,
 * also that of another test's webhook. One with a query gets what the query asks for.
 */
export async function createWebhook(
  endpoint: Endpoint,
  input: Partial<CreateWebhookInput> & Pick<CreateWebhookInput, 'url'>,
): Promise<{ id: string; secret: string }> {
  const { createWebhook: result } = await ask(endpoint, CreateWebhook, {
    input: { name: 'A webhook', ...(input.query ? {} : { events: ['USER_CREATED'] }), ...input },
  });
  const { webhook, secret } = payload(result, 'CreateWebhookPayload');
  return { id: webhook.id, secret };
}

const UpdateWebhook = graphql(`
  mutation UpdateWebhookForTest($input: UpdateWebhookInput!) {
    updateWebhook(input: $input) {
      __typename
      ... on UpdateWebhookPayload { webhook { id } }
      ... on Error { message }
    }
  }
`);

/** Enables or disables a webhook. */
export async function switchWebhook(endpoint: Endpoint, id: string, enabled: boolean) {
  const { updateWebhook: result } = await ask(endpoint, UpdateWebhook, { input: { id, enabled } });
  payload(result, 'UpdateWebhookPayload');
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

let users = 0;

/** Creates a user, which raises `User.Created`. */
export async function createUser(endpoint: Endpoint): Promise<{ id: string; username: string }> {
  users += 1;
  const username = `user_${users}`;
  const { createUser: result } = await ask(endpoint, CreateUser, { username });
  return { ...payload(result, 'CreateUserPayload').user, username };
}

const ReadWebhook = graphql(`
  query WebhookOfTest($id: ID!, $status: DeliveryStatus) {
    webhook(id: $id) {
      id enabled disabledReason
      deliveries(filter: { status: $status }, first: 100) {
        totalCount
        edges {
          node {
            id status isTest eventType nextAttemptAt
            event { id name data }
            attempts { at durationMs statusCode responseBody error }
          }
        }
      }
    }
  }
`);

/** A webhook and its deliveries, newest first, as an administrator gets them. */
export async function readWebhook(endpoint: Endpoint, id: string, status?: DeliveryStatus) {
  const { webhook } = await ask(endpoint, ReadWebhook, { id, status: status ?? null });
  if (!webhook) throw new Error(`There is no webhook ${id}.`);
  const { deliveries, ...fields } = webhook;
  return { ...fields, deliveries: deliveries.edges.map(({ node }) => node) };
}

/** A webhook from {@link readWebhook}. */
export type WebhookSeen = Awaited<ReturnType<typeof readWebhook>>;

/** An administrator of a service, with a token that is valid at the time of its clock. */
export const adminOf = async (service: TestService): Promise<Endpoint> => ({
  url: service.url,
  token: await service.managementToken(),
});

/**
 * Waits until a webhook is in a state, and returns it. It is read once more then: one reading takes several statements,
 * and what the first of them read may be older than the attempt that another shows.
 */
export function webhookUntil(
  endpoint: Endpoint,
  id: string,
  condition: (webhook: WebhookSeen) => boolean,
): Promise<WebhookSeen> {
  return eventually(async () => {
    let webhook = await readWebhook(endpoint, id);
    if (condition(webhook)) {
      webhook = await readWebhook(endpoint, id);
      if (condition(webhook)) return webhook;
    }
    throw new Error(`The webhook is not there yet: ${JSON.stringify(webhook)}`);
  });
}

/** Waits until a webhook's newest delivery was attempted so many times; returns the webhook and that delivery. */
export async function attempted(endpoint: Endpoint, id: string, count = 1) {
  const webhook = await webhookUntil(
    endpoint,
    id,
    ({ deliveries: [newest] }) => newest?.attempts.length === count,
  );
  return { ...webhook, delivery: webhook.deliveries[0] };
}

/** Waits until a webhook's newest delivery has succeeded; returns the webhook. */
export const succeeded = (endpoint: Endpoint, id: string): Promise<WebhookSeen> =>
  webhookUntil(endpoint, id, ({ deliveries: [newest] }) => newest?.status === 'SUCCEEDED');

/** Moves a service's clock, and wakes its dispatcher. */
export function advance(service: TestService, milliseconds: number): void {
  service.clock.advance(milliseconds);
  service.app.services.database.hints.send('queues');
}
