import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose';
import * as oidc from 'openid-client';
import { expect } from 'vitest';
import type { Visit } from '../../../support/people/sign-in.ts';
import { goodbye, longState, type Module, type Run, type Tokens } from '../run.ts';
import { interactionErrors } from './sessions.ts';

type Parameters = Record<string, string | undefined>;

/** Signs in, and asks to be signed out. The suite changes the parameters of its request. */
async function askSignOut(
  run: Run,
  change: (asked: Parameters, tokens: Tokens) => Parameters | Promise<Parameters> = (asked) =>
    asked,
): Promise<{ visit: Visit; state: string }> {
  const tokens = await run.complete(await run.ask({ state: longState() }));
  const state = oidc.randomState();
  const parameters = await change(
    { id_token_hint: tokens.id_token, post_logout_redirect_uri: goodbye, state },
    tokens,
  );
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const url = oidc.buildEndSessionUrl(run.config, Object.fromEntries(given));
  // openid-client adds the application, which the suite does not name.
  url.searchParams.delete('client_id');
  return { visit: await run.browser.open(url), state };
}

/** The person is signed out: a request that may show no page fails. */
async function expectSignedOut(run: Run): Promise<void> {
  const asked = await run.ask({ prompt: 'none', state: longState() });
  run.expectError(asked, await run.open(asked), ...interactionErrors);
}

const confirm = (run: Run, question: Visit) => run.browser.submit(question, { logout: 'yes' });

/** Signs out, and comes back to the application with these parameters. */
const comesBack =
  (
    change: (asked: Parameters) => Parameters,
    expected: (state: string) => Record<string, string>,
  ): Module =>
  async (run) => {
    const { visit, state } = await askSignOut(run, change);
    const { url } = await confirm(run, visit);
    expect(`${url.origin}${url.pathname}`).toBe(goodbye);
    expect(Object.fromEntries(url.searchParams)).toEqual(expected(state));
    await expectSignedOut(run);
  };

/** Signs out, and stays: the page says that it is done. */
const staysSignedOut =
  (change: (asked: Parameters) => Parameters): Module =>
  async (run) => {
    const { visit } = await askSignOut(run, change);
    const done = await confirm(run, visit);
    expect(done.url.origin).toBe(new URL(run.issuer).origin);
    run.review(done, { status: 200, text: /You are signed out/ });
    await expectSignedOut(run);
  };

/** Shows an error, and sends nobody to the application. */
const refused =
  (
    change: (asked: Parameters, tokens: Tokens, run: Run) => Parameters | Promise<Parameters>,
  ): Module =>
  async (run) => {
    const { visit } = await askSignOut(run, (asked, tokens) => change(asked, tokens, run));
    expect(visit.url.origin).toBe(new URL(run.issuer).origin);
    run.review(visit, { status: 400, text: /This did not work/ });
  };

/** Signing out. */
export const logout = {
  'oidcc-rp-initiated-logout': comesBack(
    (asked) => asked,
    (state) => ({ state }),
  ),
  'oidcc-rp-initiated-logout-no-state': comesBack(
    (asked) => ({ ...asked, state: undefined }),
    () => ({}),
  ),

  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': refused((asked) => ({
    ...asked,
    post_logout_redirect_uri: 'https://app.example.com/bad_post_logout_redirect_uri',
  })),
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': refused((asked) => ({
    ...asked,
    post_logout_redirect_uri: `${goodbye}?foo=bar`,
  })),
  'oidcc-rp-initiated-logout-modified-id-token-hint': refused(
    (asked, { id_token: token = '' }) => ({
      ...asked,
      id_token_hint: new UnsecuredJWT(decodeJwt(token)).encode(),
    }),
  ),
  'oidcc-rp-initiated-logout-bad-id-token-hint': refused(
    async (asked, _tokens, { client, issuer }) => ({
      ...asked,
      // By the application, with issuer and audience the wrong way round.
      id_token_hint: await new SignJWT({ nonce: 'flibble' })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(client.id)
        .setSubject('SubjectID')
        .setAudience(issuer)
        .setIssuedAt()
        .setExpirationTime('5 minutes')
        .sign(Buffer.from(client.secret)),
    }),
  ),

  'oidcc-rp-initiated-logout-no-id-token-hint': staysSignedOut((asked) => ({
    ...asked,
    id_token_hint: undefined,
  })),
  'oidcc-rp-initiated-logout-no-params': staysSignedOut(() => ({})),
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': staysSignedOut((asked) => ({
    ...asked,
    post_logout_redirect_uri: undefined,
  })),
  'oidcc-rp-initiated-logout-only-state': staysSignedOut(({ state }) => ({ state })),
} satisfies Record<string, Module>;
