// Benches and processes outside of a test use it too: nothing here comes from vitest.

interface Client {
  readonly id: string;
  readonly secret: string;
}

/** An `Authorization` header of a client (RFC 6749 §2.3.1). */
export const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;

/** Requests an access token for an application itself (RFC 6749 §4.4). */
export const requestClientCredentials = (
  { url }: { readonly url: string },
  { id, secret }: Client,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> =>
  fetch(`${url}/oidc/token`, {
    method: 'POST',
    headers: { authorization: basic(id, secret) },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }),
  });

/** An application's own access token for a resource. */
export async function fetchClientToken(
  at: { readonly url: string },
  client: Client,
  parameters: Readonly<{ resource: string; scope?: string }>,
): Promise<string> {
  const response = await requestClientCredentials(at, client, parameters);
  const body = (await response.json()) as { access_token?: string };
  if (!body.access_token) throw new Error(`No token: ${JSON.stringify(body)}`);
  return body.access_token;
}

/** What asks for a token of the management API. */
export const managementRequest = { resource: 'urn:signet:management', scope: 'all' };

/** An application's access token for the management API. */
export const fetchManagementToken = (
  at: { readonly url: string },
  client: Client,
  scope = managementRequest.scope,
): Promise<string> => fetchClientToken(at, client, { ...managementRequest, scope });
