import { expect } from 'vitest';
import { expectPublicKeys } from '../conditions.ts';
import type { Module, Run } from '../run.ts';

/** Every endpoint is below the issuer: with an https `BASE_URL` all of them are https, as the suite requires. */
function expectEndpoints({ metadata, issuer }: Run, ...required: string[]): void {
  const endpoints = Object.entries(metadata).filter(([name]) => /_(endpoint|uri)$/.test(name));
  expect(endpoints.map(([name]) => name)).toEqual(expect.arrayContaining(required));
  for (const [name, url] of endpoints) expect(String(url), name).toMatch(new RegExp(`^${issuer}/`));
}

/** A specification that Signet does not offer, and does not claim to. */
const notOffered =
  (...names: string[]): Module =>
  async (run) => {
    for (const name of names) expect(run.metadata).not.toHaveProperty(name);
    run.skip('NOT OFFERED');
  };

/** What discovery says, and what it does not claim. */
export const discovery = {
  async 'oidcc-discovery-endpoint-verification'(run) {
    const url = `${run.issuer}/.well-known/openid-configuration`;
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    const metadata = (await response.json()) as Readonly<Record<string, unknown>>;
    expect(metadata['issuer']).toBe(run.issuer);
    expect(new URL(run.issuer)).toMatchObject({ search: '', hash: '' });
    expect(metadata['response_types_supported']).toContain('code');
    expect(metadata['subject_types_supported']).toContain('public');
    expect(metadata['id_token_signing_alg_values_supported']).toContain('RS256');
    expect(metadata['scopes_supported']).toContain('openid');
    for (const scope of metadata['scopes_supported'] as string[])
      expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(metadata['grant_types_supported']).toContain('authorization_code');
    expect(metadata['code_challenge_methods_supported']).toEqual(['S256']);
    run.recommend(Array.isArray(metadata['claims_supported']));
    const required = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'];
    expectEndpoints(run, ...required);
    await expectPublicKeys(String(metadata['jwks_uri']));
  },

  async 'oidcc-rp-initiated-logout-discovery-endpoint-verification'(run) {
    expectEndpoints(run, 'end_session_endpoint');
  },

  'oidcc-backchannel-logout-discovery-endpoint-verification': notOffered(
    'backchannel_logout_supported',
    'backchannel_logout_session_supported',
  ),
  'oidcc-backchannel-rp-initiated-logout': notOffered('backchannel_logout_supported'),
  'oidcc-frontchannel-logout-discovery-endpoint-verification': notOffered(
    'frontchannel_logout_supported',
    'frontchannel_logout_session_supported',
  ),
  'oidcc-frontchannel-rp-initiated-logout': notOffered('frontchannel_logout_supported'),
  'oidcc-session-management-discovery-endpoint-verification': notOffered('check_session_iframe'),
  'oidcc-session-management-rp-initiated-logout': notOffered('check_session_iframe'),
} satisfies Record<string, Module>;
