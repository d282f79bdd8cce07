import { UnsecuredJWT } from 'jose';
import { expect } from 'vitest';
import type { Asked, Module, Run } from '../run.ts';

/** Moves a request into an unsigned request object; OAuth's own parameters stay beside it too. */
async function askByObject(run: Run): Promise<Asked & { readonly object: string }> {
  const asked = await run.ask();
  const { searchParams: sent } = asked.url;
  const object = new UnsecuredJWT(Object.fromEntries(sent)).encode();
  for (const name of [...sent.keys()]) {
    if (!['response_type', 'client_id', 'scope', 'redirect_uri'].includes(name)) sent.delete(name);
  }
  return { ...asked, object };
}

/** A provider that does not support it says so, at the application. The `state` was in the object alone. */
const refusedAs =
  (error: string, put: (asked: Asked & { readonly object: string }) => void): Module =>
  async (run) => {
    const asked = await askByObject(run);
    put(asked);
    const { url } = await run.open(asked);
    expect(url.origin).toBe('https://app.example.com');
    expect(url.searchParams.get('error')).toBe(error);
    run.skip();
  };

/** Requests as JWTs (OpenID Connect Core §6), which Signet does not take. */
export const requestObjects = {
  'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported': refusedAs(
    'request_uri_not_supported',
    ({ url }) => url.searchParams.set('request_uri', 'https://app.example.com/request.jwt#hash'),
  ),

  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': refusedAs(
    'request_not_supported',
    ({ url, object }) => url.searchParams.set('request', object),
  ),

  async 'oidcc-ensure-request-object-with-redirect-uri'(run) {
    const asked = await askByObject(run);
    const { searchParams: sent } = asked.url;
    sent.set('redirect_uri', `${sent.get('redirect_uri')}_invalid`);
    sent.set('request', asked.object);
    const visit = await run.open(asked);
    // Nobody is sent to the registered address, nor to the one that is not.
    expect(visit.url.href).toBe(asked.url.href);
    run.review(visit, { status: 400, text: /invalid_redirect_uri/ });
  },
} satisfies Record<string, Module>;
