import { describe, expect, test } from 'vitest';
import { endOfLog, recordedSince } from '../../support/people/account.ts';
import { authenticatorApp, enrollApp } from '../../support/people/authenticator-app.ts';
import {
  asPage,
  asProgram,
  readInteraction,
  startHeadless,
  step,
} from '../../support/people/experience.ts';
import { manager } from '../../support/people/federation.ts';
import { codeTo, messagesTo } from '../../support/people/messages.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const admin = await manager(service);
await changeSettings(service, await service.managementToken(), {
  factors: ['TOTP', 'BACKUP_CODES'],
  signUpIdentifiers: ['EMAIL', 'USERNAME'],
});
const longPassword = 'another horse battery staple';

let people = 0;
const address = () => {
  people += 1;
  return `twice${people}@example.com`;
};
async function somebody(): Promise<string> {
  const primaryEmail = address();
  await fixture.createUser({ primaryEmail, enrollmentSkippedAt: service.clock.now() });
  return primaryEmail;
}

const begin = () => startHeadless(service, { clientId: client.id, redirectUri });
type Headless = Awaited<ReturnType<typeof begin>>;

/** A step that is ready to be done. */
interface Ready {
  readonly headless: Headless;
  readonly name: string;
  readonly input: object;
}

async function askedForCode(purpose: string, email: string): Promise<Ready> {
  const headless = await begin();
  const { verification } = await step(headless.send, 'sendCode', { purpose, email });
  const input = { verificationId: verification.id, code: await codeTo(service, email) };
  return { headless, name: 'verifyCode', input };
}

async function after({ headless, name, input }: Ready): Promise<Headless> {
  expect(await step(headless.send, name, input)).toHaveProperty('interaction');
  return headless;
}

async function byPassword() {
  const input = { identifier: await somebody(), password };
  return { headless: await begin(), name: 'signInWithPassword', input };
}

/** Somebody with an authenticator app, signed in by their password. */
async function withApp() {
  const signIn = await byPassword();
  const app = await enrollApp((await after(signIn)).send, service.clock);
  service.clock.advance(30_000);
  const headless = await after({ ...signIn, headless: await begin() });
  return { headless, app, input: signIn.input };
}

const steps = {
  'signs in by a password': byPassword,
  'signs in by a code': async () => askedForCode('SIGN_IN', await somebody()),
  'gives the code of a registration': () => askedForCode('REGISTER', address()),
  'gives the code of a reset': async () => askedForCode('RESET_PASSWORD', await somebody()),
  async registers() {
    const email = address();
    const headless = await after(await askedForCode('REGISTER', email));
    const input = { username: email.replace(/@.*/, ''), password: longPassword };
    return { headless, name: 'register', input };
  },
  async 'chooses a new password'() {
    const headless = await after(await askedForCode('RESET_PASSWORD', await somebody()));
    return { headless, name: 'resetPassword', input: { password: longPassword } };
  },
  async 'redeems a one-time token'() {
    const email = await somebody();
    const { token } = await admin.done('createOneTimeToken', { email });
    return { headless: await begin(), name: 'redeemOneTimeToken', input: { email, token } };
  },
  async 'shows a second factor'() {
    const { headless, app } = await withApp();
    return { headless, name: 'verifyTotp', input: { code: app.code() } };
  },
  async 'adds a second factor'() {
    const headless = await after(await byPassword());
    const { secret } = await step(headless.send, 'enrollTotp');
    const app = authenticatorApp(service.clock, String(secret));
    return { headless, name: 'confirmTotp', input: { code: app.code() } };
  },
  async 'is the last'() {
    const headless = await after(await byPassword());
    return { headless, name: 'submitInteraction', input: {} };
  },
} satisfies Record<string, () => Promise<Ready>>;

describe.each(Object.entries<() => Promise<Ready>>(steps))('a step that %s', (_name, ready) => {
  test.each(['at once', 'after'])('is answered alike the second time, %s', async (when) => {
    const { headless, name, input } = await ready();
    const start = await endOfLog(service);
    const once = () => step(headless.send, name, input);
    const [first, second] =
      when === 'at once' ? await Promise.all([once(), once()]) : [await once(), await once()];
    expect(first.__typename).toMatch(/Payload$/);
    expect(second).toEqual(first);
    const types = (await recordedSince(service, start)).map(({ type }) => type);
    expect(types).toEqual([...new Set(types)]);
  });
});

describe('by a page of one’s own', () => {
  test.each(['at once', 'after'])('the last step is answered alike, %s', async (when) => {
    const email = await somebody();
    const { browser } = await openSignInPage(service, client);
    const send = asPage(service, browser);
    await step(send, 'signInWithPassword', { identifier: email, password });
    const once = () => step(send, 'submitInteraction');
    const [first, second] =
      when === 'at once' ? await Promise.all([once(), once()]) : [await once(), await once()];
    expect(first.__typename).toBe('SubmitInteractionPayload');
    expect(second).toEqual(first);
    const { url } = await browser.open(first['redirectTo']);
    expect(url.searchParams.get('code')).toBeTypeOf('string');
  });

  test('the last step, after its answer was followed, says that the sign-in is over', async () => {
    const { browser } = await openSignInPage(service, client);
    const send = asPage(service, browser);
    await step(send, 'signInWithPassword', { identifier: await somebody(), password });
    const { redirectTo } = await step(send, 'submitInteraction');
    await browser.open(redirectTo);
    const again = await step(send, 'submitInteraction');
    expect(again.__typename).toBe('InteractionExpiredError');
  });
});

test('two nodes answer it alike', async () => {
  const { url } = await startSecondNode(service);
  const { headless, name, input } = await steps.registers();
  const elsewhere = asProgram({ url }, headless.token);
  const answers = await Promise.all([
    step(headless.send, name, input),
    step(elsewhere, name, input),
  ]);
  expect(answers[0].__typename).toBe('RegisterPayload');
  expect(answers[1]).toEqual(answers[0]);
});

describe('what is another step is done', () => {
  test('other values', async () => {
    const { headless, name, input } = await steps['signs in by a code']();
    await step(headless.send, name, input);
    const other = await step(headless.send, name, { ...input, code: '000000' });
    expect(other.__typename).toBe('VerificationFailedError');
  });

  test('the same in another interaction', async () => {
    const { name, input } = await steps['redeems a one-time token']();
    expect(await step((await begin()).send, name, input)).toHaveProperty('interaction');
    const other = await step((await begin()).send, name, input);
    expect(other.__typename).toBe('VerificationFailedError');
  });

  test('a refused one', async () => {
    const { headless, name, input } = await byPassword();
    const wrong = { ...input, password: 'wrong' };
    for (const _time of [1, 2])
      expect((await step(headless.send, name, wrong)).__typename).toBe('VerificationFailedError');
    expect(await step(headless.send, name, input)).toHaveProperty('interaction');
  });

  test('the first again, after somebody else has signed in', async () => {
    const first = await byPassword();
    const other = await byPassword();
    for (const { name, input } of [first, other, first]) {
      await step(first.headless.send, name, input);
      const now = await readInteraction(first.headless.send);
      expect(now?.['identifier']).toBe(input.identifier);
    }
  });

  test('the first again, after the page has forgotten who they are', async () => {
    const { input } = await withApp();
    const { browser, visit } = await openSignInPage(service, client);
    const send = asPage(service, browser);
    await step(send, 'signInWithPassword', input);
    const page = await browser.open(`${visit.url.pathname}/factor/app`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
    const form = new URLSearchParams({ csrf, other: 'yes' });
    await browser.open(`${visit.url.pathname}/other-account`, { method: 'POST', body: form });
    expect(await readInteraction(send)).toMatchObject({ identifier: null });
    await step(send, 'signInWithPassword', input);
    expect(await readInteraction(send)).toMatchObject({ identifier: input.identifier });
  });

  test('another code, unless it was asked for twice at once', async () => {
    const email = await somebody();
    const { send } = await begin();
    const ask = () => step(send, 'sendCode', { purpose: 'SIGN_IN', email });
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(second).toEqual(first);
    expect(await messagesTo(service, email)).toHaveLength(1);
    await ask();
    expect(await messagesTo(service, email)).toHaveLength(2);
  });

  test('other backup codes', async () => {
    const { headless, app } = await withApp();
    await step(headless.send, 'verifyTotp', { code: app.code() });
    const { codes } = await step(headless.send, 'createBackupCodes');
    const again = await step(headless.send, 'createBackupCodes');
    expect(codes).toHaveLength(10);
    expect(again['codes']).not.toEqual(codes);
  });
});

test('what is nested too deeply is refused as it is without', async () => {
  const { send } = await begin();
  const a = JSON.parse(`${'['.repeat(3500)}${']'.repeat(3500)}`);
  expect(await step(send, 'verifyPasskey', { response: { a } })).not.toHaveProperty('interaction');
});

test('what is kept of a step can be read with the secret alone', async () => {
  const { headless, name, input } = await steps['is the last']();
  const { redirectTo } = await step(headless.send, name, input);
  const code = new URL(redirectTo).searchParams.get('code') ?? '';
  const kept = JSON.stringify(await fixture.database.prisma.sentForm.findMany());
  expect(code).not.toBe('');
  for (const told of [code, headless.token, 'redirectTo']) expect(kept).not.toContain(told);
});
