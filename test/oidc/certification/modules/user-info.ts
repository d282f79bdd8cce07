import * as oidc from 'openid-client';
import { expect } from 'vitest';
import { expectStandardClaims } from '../conditions.ts';
import { claimsOf, type Module, type Run, type Tokens } from '../run.ts';

/** Signs in, calls user info this way, and checks the answer. */
const userInfoBy =
  (call: (run: Run, tokens: Tokens, endpoint: URL) => Promise<Response>): Module =>
  async (run) => {
    const tokens = await run.complete(await run.ask());
    const response = await call(run, tokens, new URL(String(run.metadata.userinfo_endpoint)));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    const claims = (await response.json()) as oidc.UserInfoResponse;
    expect(claims.sub).toBe(claimsOf(tokens).sub);
    expectStandardClaims(claims);
  };

const withHeader = (method: 'GET' | 'POST') =>
  userInfoBy((run, { access_token: token }, endpoint) =>
    oidc.fetchProtectedResource(run.config, token, endpoint, method),
  );

/** The ways to call user info. */
export const userInfo = {
  'oidcc-userinfo-get': withHeader('GET'),
  'oidcc-userinfo-post-header': withHeader('POST'),

  // openid-client sends no token in a body.
  'oidcc-userinfo-post-body': userInfoBy((_run, { access_token }, endpoint) =>
    fetch(endpoint, { method: 'POST', body: new URLSearchParams({ access_token }) }),
  ),

  async 'oidcc-claims-essential'(run) {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const tokens = await run.complete(await run.ask({ claims }));
    run.recommend('name' in (await run.userInfo(tokens)));
    run.recommend(!('name' in claimsOf(tokens)));
  },
} satisfies Record<string, Module>;
