import { basic } from './service.ts';

/** Fetches an access token for the management API, as its client does. */
export async function fetchManagementToken(
  { url }: { readonly url: string },
  client: { readonly id: string; readonly secret: string },
  scope = 'all',
): Promise<string> {
  const response = await fetch(`${url}/oidc/token`, {
    method: 'POST',
    headers: { authorization: basic(client.id, client.secret) },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: 'urn:signet:management',
      scope,
    }),
  });
  const body = (await response.json()) as { access_token?: string };
  if (!body.access_token) throw new Error(`No management token: ${JSON.stringify(body)}`);
  return body.access_token;
}
