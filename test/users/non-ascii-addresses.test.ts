import { describe, expect, test } from 'vitest';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { callRest } from '../support/operations/rest.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { allowPrivate } from '../support/people/federation.ts';
import { createSignInFixture, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

// The outbox of the embedded set-up and an HTTP sender take every address.
const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const endpoint = { url: service.url, token: await service.managementToken() };
const call = overGraphQL(service, endpoint.token);
const admin = createMaker(call);
await admin.done('setEmailSender', {
  http: { url: 'http://127.0.0.1:9/', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
});

const longDomain = ['a', 'b', 'c'].map((label) => `${label.repeat(63)}.`).join('') + 'd'.repeat(59);

describe('a local part outside ASCII', () => {
  test.each([
    ['δοκιμή@παράδειγμα.example', 'δοκιμή@παράδειγμα.example'],
    ['用户@例子.example', '用户@例子.example'],
    ['Jürgen.Müller+x@example.com', 'Jürgen.Müller+x@example.com'],
    ['ОЛЬГА@example.com', 'ольга@example.com'],
    ['MÜLLER@example.com', 'müller@example.com'],
    ['zoe\u0308@example.com', 'zo\u00EB@example.com'],
    ['ZOE\u0308.a@example.com', 'zo\u00EB.a@example.com'],
    ['نامه\u200Cای@example.com', 'نامه\u200Cای@example.com'],
    ['🐍@example.com', '🐍@example.com'],
    ['❤\uFE0F@example.com', '❤\uFE0F@example.com'],
    [' \u200Fمثال@مثال.example\u200F ', 'مثال@مثال.example'],
    // Other letters than those of ASCII, however alike.
    ['ｕｓｅｒ@example.com', 'ｕｓｅｒ@example.com'],
    [`${'é'.repeat(32)}@example.com`, `${'é'.repeat(32)}@example.com`],
    [`é@${longDomain}`, `é@${longDomain}`],
  ])('%s is taken, and shown as %s', async (primaryEmail, shown) => {
    const { body } = await callRest(endpoint, 'POST', '/users', { primaryEmail });
    expect(body.user).toMatchObject({ primaryEmail: shown });
  });

  test.each([
    ['a space', 'δοκ ιμή@example.com'],
    ['an ideographic space', '用\u3000户@example.com'],
    ['a no-break space', '用\u00A0户@example.com'],
    ['a control character', 'δοκ\u0085ιμή@example.com'],
    ['a line break', 'δοκ\r\nιμή@example.com'],
    ['a line separator', 'δοκ\u2028ιμή@example.com'],
    ['NUL', 'δοκ\0ιμή@example.com'],
    ['half of a surrogate pair', 'δοκ\uD800ιμή@example.com'],
    ['a sign without width', 'δοκ\u200Bιμή@example.com'],
    ['a mark of direction', 'δοκ\u202Eιμή@example.com'],
    ['a soft hyphen', 'δοκ\u00ADιμή@example.com'],
    ['a letter that is not seen', 'δοκ\u3164ιμή@example.com'],
    ['a mark that is not seen', 'δοκ\u034Fιμή@example.com'],
    ['a variation that is not seen', 'δοκ\uFE0Fιμή@example.com'],
    ['a character of private use', 'δοκ\uE000ιμή@example.com'],
    ['a code point that is no character', 'δοκ\uFFFFιμή@example.com'],
    ['quotes', '"δοκιμή"@example.com'],
    ['brackets', 'δοκ<ιμή>@example.com'],
    ['a comma', 'δ,οκιμή@example.com'],
    ['a backslash', 'δ\\οκιμή@example.com'],
    ['a second @', 'δοκ@ιμή@example.com'],
    ['a dot at its start', '.δοκιμή@example.com'],
    ['two dots in a row', 'δοκ..ιμή@example.com'],
    ['66 bytes in 33 characters', `${'é'.repeat(33)}@example.com`],
    ['an address of 255 bytes', `é@${longDomain}d`],
    ['a Kelvin sign, which NFC makes a K', '\u212Aelvin@example.com'],
    ['a letter with endless marks', `${'e\u0301'}${'\u0316\u0301'.repeat(500_000)}@example.com`],
    ['no domain', 'δοκιμή'],
    ['no name of a domain', 'δοκιμή@1.2.3.٤'],
  ])('is refused with the name of its field for %s', async (_what, primaryEmail) => {
    const { code, issues } = await call('createUser', { primaryEmail });
    expect([code, ...new Set(issues?.flatMap(({ path }) => path))]).toEqual([
      'INVALID_INPUT',
      'primaryEmail',
    ]);
  });

  test('is one however it is composed, and in capitals', async () => {
    await admin.user({ primaryEmail: 'ÉLÉONORE@example.com' });
    for (const twin of [
      'éléonore@example.com',
      'E\u0301LE\u0301ONORE@EXAMPLE.com',
      'Éléonore@example.com',
    ]) {
      expect(await call('createUser', { primaryEmail: twin })).toMatchObject({
        code: 'CONFLICT',
        path: ['primaryEmail'],
      });
      expect(await call('importUsers', { users: [{ primaryEmail: twin }] })).toMatchObject({
        payload: { failures: [expect.anything()] },
      });
    }
  });

  test('is no address of ASCII letters, however alike', async () => {
    const [of, like] = [
      'ilkin@example.com',
      ['ılkin@example.com', 'İlkin@example.com', 'ⅰlkin@example.com'],
    ];
    const { id } = await fixture.createUser({ primaryEmail: of });
    for (const primaryEmail of like) {
      await admin.user({ primaryEmail });
      const { body } = await callRest(
        endpoint,
        'GET',
        `/users?${encodeURI(`primaryEmail=${primaryEmail}`)}`,
      );
      expect(body.users).toMatchObject([{ primaryEmail: primaryEmail.toLowerCase() }]);
    }
    const { body } = await callRest(endpoint, 'GET', `/users?primaryEmail=${of.toUpperCase()}`);
    expect(body.users).toMatchObject([{ id }]);
  });

  test('is found by a filter and by a search, in capitals too', async () => {
    const id = await admin.user({ primaryEmail: 'αναζήτηση@example.com' });
    const spellings = ['αναζήτηση', 'ΑΝΑΖΉΤΗΣΗ', 'Αναζη\u0301τηση'];
    for (const local of spellings) {
      for (const query of [
        `primaryEmail=${local}@Example.com`,
        `search=${local}@exa`,
        `search=${local}`,
      ]) {
        const { body } = await callRest(endpoint, 'GET', `/users?${encodeURI(query)}`);
        expect([query, body.users]).toMatchObject([query, [{ id }]]);
      }
    }
  });

  test('stays verified when it is written in another way', async () => {
    const primaryEmail = 'zoë.b@example.com';
    const id = await admin.user({ primaryEmail, isEmailVerified: true });
    await admin.done('updateUser', { id, primaryEmail: 'ZOE\u0308.B@example.com' });
    expect(await prisma.user.findUniqueOrThrow({ where: { id } })).toMatchObject({
      primaryEmail,
      isEmailVerified: true,
    });
  });

  test('signs in in any spelling, and all count as one', async () => {
    const app = await fixture.createApplication({ allowHeadlessSignIn: true });
    const { id } = await fixture.createUser({ primaryEmail: 'søren@example.com' });
    for (const identifier of ['søren@example.com', ' SØREN@Example.COM ']) {
      const { send } = await startHeadless(service, { clientId: app.id, redirectUri });
      await step(send, 'signInWithPassword', { identifier, password: 'wrong' });
      const { interaction } = await step(send, 'signInWithPassword', { identifier, password });
      const found = await prisma.interaction.findUniqueOrThrow({ where: { id: interaction.id } });
      expect(found).toMatchObject({ userId: id });
    }
    expect(
      await call('unlockIdentifier', { type: 'EMAIL', value: 'SØREN@example.com' }),
    ).toMatchObject({ payload: { value: 'søren@example.com' } });
  });
});
