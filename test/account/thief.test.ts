import { describe, expect, test } from 'vitest';
import { createAccountFixture } from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { authorize, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { createUser, createApplication, signInTo, client } = await createAccountFixture(service);
const headless = await createApplication({ allowHeadlessSignIn: true });

describe('after the owner changed the password', () => {
  const changed = async (username: string) => {
    const me = await signInTo(username);
    await me.run('verifyViewerPassword', { password });
    service.clock.advance(2_000);
    expect(
      await me.run('updateViewerPassword', { password: 'a long way home, twice' }),
    ).toMatchObject({
      __typename: 'UpdateViewerPasswordPayload',
    });
  };

  test('a sign-in begun with the old one ends', async () => {
    const { username } = await createUser();
    const thief = await startHeadless(service, { clientId: headless.id, redirectUri });
    const shown = { identifier: username, password };
    expect(await step(thief.send, 'signInWithPassword', shown)).toMatchObject({
      __typename: 'SignInWithPasswordPayload',
    });
    await changed(username ?? '');
    expect(await step(thief.send, 'submitInteraction')).toMatchObject({
      code: 'INTERACTION_EXPIRED',
    });
  });

  test('a sign-in at the same moment with the old one fails', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { username } = await createUser();
      const shown = { identifier: username, password };
      const thieves = await Promise.all(
        [1, 2, 3].map(() => startHeadless(service, { clientId: headless.id, redirectUri })),
      );
      const me = await signInTo(username ?? '');
      await me.run('verifyViewerPassword', { password });
      await Promise.all([
        me.run('updateViewerPassword', { password: 'a long way home, twice' }),
        ...thieves.map(({ send }) => step(send, 'signInWithPassword', shown)),
      ]);
      for (const { send } of thieves)
        expect(await step(send, 'submitInteraction')).not.toHaveProperty('redirectTo');
    }
  });

  test('a browser on its way back gets no code', async () => {
    const { username } = await createUser();
    const browser = openBrowser(service.app.services.baseUrl);
    const visit = await browser.open((await authorize(service, client)).url);
    // The answer to the form leads to the provider, and is not followed yet.
    const csrf = /name="csrf" value="([^"]+)"/.exec(visit.body)?.[1] ?? '';
    const answer = await browser.request(visit.url.href, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: visit.url.origin },
      body: new URLSearchParams({ csrf, identifier: username ?? '', password }),
    });
    const next = answer.headers.get('location') ?? '';
    await answer.body?.cancel();
    expect(next).toContain('/auth/');
    await changed(username ?? '');
    const end = await browser.open(new URL(next, visit.url));
    expect(end.url.href).not.toContain('code=');
  });
});

describe('hostile input', () => {
  const nul = 'a\u0000b';
  const inputs: [string, object][] = [
    ['updateViewer', { name: nul }],
    ['updateViewer', { profile: { a: nul } }],
    ['updateViewer', { profile: { [nul]: 1 } }],
    ['updateViewer', { profile: { a: '\ud800' } }],
    ['updateViewer', { profile: { a: 'DEEP' } }],
    ['updateViewerUsername', { username: nul }],
    ['verifyViewerCode', { verificationId: nul, code: '123456' }],
    ['verifyViewerCode', { verificationId: 'x', code: nul }],
    ['updateViewerEmail', { verificationId: nul }],
    ['updateViewerPhone', { verificationId: nul }],
    ['verifyViewerPassword', { password: nul }],
    ['verifyViewerPassword', { password: 'x'.repeat(100_000) }],
    ['updateViewerPassword', { password: `${nul} long enough for anybody` }],
    ['endViewerSession', { id: nul }],
    ['confirmTotp', { code: nul, name: nul }],
    ['verifyTotp', { code: nul }],
    ['verifyBackupCode', { code: nul }],
    ['deleteViewerFactor', { id: nul }],
    ['confirmPasskey', { response: { id: nul }, name: nul }],
    ['verifyPasskey', { response: { a: 'DEEP' } }],
    ['sendViewerCode', { email: `a${nul}@example.com` }],
    ['sendViewerCode', { email: 'a@example.com\r\nBcc: b@example.com' }],
  ];
  test.each(inputs)('%s of %j is no fault', async (name, input) => {
    const { username } = await createUser();
    const me = await signInTo(username ?? '');
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
    for (const isProved of [false, true]) {
      if (isProved) await me.run('verifyViewerPassword', { password });
      const answer = await fetch(`${service.url}/account/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${me.token}` },
        body: JSON.stringify({
          query: `mutation ($input: ${type}) { ${name}(input: $input) { __typename } }`,
          variables: { input },
        }).replace('"DEEP"', `${'['.repeat(20_000)}1${']'.repeat(20_000)}`),
      });
      const { status } = answer;
      const body = await answer.text();
      expect(status).toBeLessThan(500);
      expect(body).not.toContain('INTERNAL');
    }
  });
});
