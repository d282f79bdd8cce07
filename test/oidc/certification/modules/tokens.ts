import * as oidc from 'openid-client';
import { expect } from 'vitest';
import { redirectUri } from '../../../support/people/sign-in-fixture.ts';
import { entropyOf, expectDescription, expectSoundIdToken } from '../conditions.ts';
import { claimsOf, later, type Module, type Run, type Tokens } from '../run.ts';

/** The token endpoint refuses a code or a refresh token, as RFC 6749 §5.2 says. */
async function expectInvalidGrant(request: Promise<unknown>): Promise<void> {
  const refused = await request.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refused instanceof oidc.ResponseBodyError)) throw new Error('The grant was accepted.');
  expect([refused.status, refused.error]).toEqual([400, 'invalid_grant']);
  expect(refused.response.headers.get('content-type')).toMatch(/^application\/json\b/);
  expectDescription(refused.error_description);
}

/** Signs in, and uses the code again after a while. */
async function reuseCode(run: Run, seconds: number): Promise<Tokens> {
  const asked = await run.ask();
  const visit = await run.signIn(await run.open(asked));
  const tokens = await run.redeem(asked, visit);
  await run.userInfo(tokens);
  await later(seconds, () => expectInvalidGrant(run.redeem(asked, visit)));
  return tokens;
}

/** Signs in for a refresh token, and uses it: the new tokens are about the same sign-in. */
async function refreshTokens(run: Run, redirect_uri: string): Promise<Tokens> {
  const scope = 'openid offline_access';
  const asked = await run.ask({ scope, prompt: 'consent', redirect_uri });
  const page = await run.open(asked);
  const isBack = page.url.href.startsWith(redirect_uri);
  const { url } = isBack ? page : await run.signIn(page);
  const expected = new URL(redirect_uri).searchParams;
  for (const [name, value] of expected) expect(url.searchParams.get(name)).toBe(value);
  // openid-client's own grant leaves out the query of a redirect URI.
  const first = await oidc.genericGrantRequest(run.config, 'authorization_code', {
    code: url.searchParams.get('code') ?? '',
    code_verifier: asked.verifier,
    redirect_uri,
  });
  expect(url.searchParams.get('state')).toBe(asked.state);
  expect(claimsOf(first)['nonce']).toBe(asked.nonce);
  const token = first.refresh_token ?? '';
  expect(token).toMatch(/^[\x20-\x7e]+$/);
  return later(1, async () => {
    const headers: Headers[] = [];
    run.config[oidc.customFetch] = async (url, options) => {
      const response = await fetch(url, options as RequestInit);
      headers.push(response.headers);
      return response;
    };
    const second = await oidc.refreshTokenGrant(run.config, token, { scope });
    expect(headers[0]?.get('cache-control')).toBe('no-store');
    expect(headers[0]?.get('content-type')).toMatch(/^application\/json\b/);
    expect(second.token_type).toBe('bearer');
    expect(second.access_token).toMatch(/^[\x20-\x7e]+$/);
    expect(entropyOf(second.access_token)).toBeGreaterThan(96);
    expect(entropyOf(second.refresh_token ?? '')).toBeGreaterThan(96);
    run.recommend(Number(second.expires_in) > 0);
    expectSoundIdToken(claimsOf(second));
    const same = ['iss', 'sub', 'aud', 'auth_time', 'azp'];
    const of = (tokens: Tokens) => same.map((name) => claimsOf(tokens)[name]);
    expect(of(second)).toEqual(of(first));
    expect(claimsOf(second).iat).toBeGreaterThan(claimsOf(first).iat);
    await run.userInfo(second);
    return second;
  });
}

/** Codes and refresh tokens. */
export const tokens = {
  async 'oidcc-codereuse'(run) {
    await reuseCode(run, 0);
  },

  async 'oidcc-codereuse-30seconds'(run) {
    const { access_token: token } = await reuseCode(run, 30);
    const response = await fetch(String(run.metadata.userinfo_endpoint), {
      headers: { authorization: `Bearer ${token}` },
    });
    run.recommend(response.status >= 400 && response.status < 500);
  },

  async 'oidcc-refresh-token'(run) {
    expect(run.metadata.scopes_supported).toContain('offline_access');
    run.recommend(run.metadata.grant_types_supported?.includes('refresh_token') ?? false);
    await refreshTokens(run, redirectUri);
    const first = run.config;
    // The suite has its second application registered with a query.
    const withQuery = `${redirectUri}?dummy1=lorem&dummy2=ipsum`;
    const other = await run.register({ redirectUris: [withQuery] });
    run.config = await run.configure(other);
    const { refresh_token: token = '' } = await refreshTokens(run, withQuery);
    await expectInvalidGrant(oidc.refreshTokenGrant(first, token));
  },
} satisfies Record<string, Module>;
