import type { TestService } from '../service.ts';

/** What a device gets when it asks for codes (RFC 8628 §3.2), or why it gets none. */
export async function askForCodes(
  service: Pick<TestService, 'url'>,
  client: { readonly id: string },
  parameters: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, string> }> {
  const response = await fetch(`${service.url}/oidc/device/auth`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.id, scope: 'openid', ...parameters }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

/** The code that a device shows. */
export async function askUserCode(
  service: Pick<TestService, 'url'>,
  client: { readonly id: string },
  parameters?: Record<string, string>,
): Promise<string> {
  const { status, body } = await askForCodes(service, client, parameters);
  if (status !== 200) throw new Error(`A device got ${status}: ${JSON.stringify(body)}`);
  return String(body['user_code']);
}
