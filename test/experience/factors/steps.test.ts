import { type TOTP, URI } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { settledEvents } from '../../support/events.ts';
import {
  type AuthenticatorApp,
  authenticatorApp,
  enrollApp,
} from '../../support/people/authenticator-app.ts';
import {
  type Headless,
  readInteraction,
  startHeadless,
  step,
} from '../../support/people/experience.ts';
import { codeTo, messagesTo } from '../../support/people/messages.ts';
import { redeemer } from '../../support/people/sign-in-drivers.ts';
import {
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { clock } = service;
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const token = await service.managementToken();
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const change = (input: object) => changeSettings(service, token, input);
await change({ factors: ['TOTP', 'BACKUP_CODES'] });

let count = 0;
async function createPerson() {
  count += 1;
  const primaryEmail = `person${count}@example.com`;
  return { ...(await fixture.createUser({ primaryEmail })), primaryEmail };
}
type Someone = Awaited<ReturnType<typeof createPerson>>;

const start = (request: object = {}) =>
  startHeadless(service, { clientId: client.id, redirectUri, ...request });

/** Begins a sign-in and shows the password. */
async function identify(person: Someone, request: object = {}): Promise<Headless> {
  const headless = await start(request);
  const identifier = person.primaryEmail;
  const shown = await step(headless.send, 'signInWithPassword', { identifier, password });
  expect(shown).toMatchObject({ __typename: 'SignInWithPasswordPayload' });
  return headless;
}

async function submit(headless: Headless) {
  const { redirectTo, ...refused } = await step(headless.send, 'submitInteraction');
  if (!redirectTo) throw new Error(JSON.stringify(refused));
  return redeemer(service, client, headless)(new URL(redirectTo));
}

async function enrolled(): Promise<{ person: Someone; app: AuthenticatorApp }> {
  const person = await createPerson();
  const app = await enrollApp((await identify(person)).send, clock);
  // The code that confirmed it is used up.
  clock.advance(30_000);
  return { person, app };
}

const steps = async ({ send }: Headless) => (await readInteraction(send))?.['nextSteps'];
const verify = ({ send }: Headless, code: string) => step(send, 'verifyTotp', { code });
const failed = { code: 'VERIFICATION_FAILED' };

describe('an authenticator app', () => {
  test('is added with its secret as text, URI and picture', async () => {
    const person = await createPerson();
    const headless = await identify(person);
    expect(await steps(headless)).toEqual(['ENROLL_FACTOR', 'SUBMIT']);
    const shown = await step(headless.send, 'enrollTotp');
    expect(shown['secret']).toMatch(/^[A-Z2-7]{32}$/);
    const totp = URI.parse(shown['uri']) as TOTP;
    expect(totp).toMatchObject({
      issuer: 'Signet',
      label: person.primaryEmail,
      algorithm: 'SHA1',
      digits: 6,
      period: 30,
      secret: { base32: shown['secret'] },
    });
    expect(shown['qrCodeSvg']).toMatch(/^<svg /);
    expect(await step(headless.send, 'enrollTotp')).toMatchObject({ secret: shown['secret'] });
    const app = authenticatorApp(clock, shown['secret']);
    const wrong = await step(headless.send, 'confirmTotp', { code: app.wrongCode() });
    expect(wrong).toMatchObject(failed);
    const confirmed = await step(headless.send, 'confirmTotp', { code: app.code(), name: 'Phone' });
    expect(confirmed).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'], factors: [{ type: 'TOTP' }] },
    });
    const again = await step(headless.send, 'confirmTotp', { code: app.code(1) });
    expect(again).toMatchObject(failed);
    expect((await submit(headless)).claims()).toMatchObject({
      sub: person.id,
      acr: 'urn:signet:aal2',
      amr: ['pwd', 'otp', 'mfa'],
    });
    expect(await prisma.userFactor.findMany({ where: { userId: person.id } })).toMatchObject([
      { type: 'TOTP', name: 'Phone' },
    ]);
  });

  test('is an event with kinds alone, and a message', async () => {
    const person = await createPerson();
    const headless = await identify(person);
    const before = (await settledEvents(service, token)).length;
    const app = await enrollApp(headless.send, clock);
    const { codes } = await step(headless.send, 'createBackupCodes');
    expect(codes).toHaveLength(10);
    // New codes replace the old: the kinds stay.
    await step(headless.send, 'createBackupCodes');
    const raised = (await settledEvents(service, token)).slice(before);
    expect(raised).toMatchObject([
      {
        name: 'User.Data.Updated',
        actor: { type: 'USER', id: person.id, clientId: client.id },
        data: { id: person.id, changes: { factors: { from: [], to: ['TOTP'] } } },
      },
      { data: { credential: 'TOTP', change: 'ADDED' } },
      { data: { changes: { factors: { from: ['TOTP'], to: ['TOTP', 'BACKUP_CODES'] } } } },
      { data: { credential: 'BACKUP_CODES', change: 'ADDED' } },
      { data: { credential: 'BACKUP_CODES', change: 'CHANGED' } },
    ]);
    expect(raised).toHaveLength(5);
    expect(app.code()).toMatch(/^\d{6}$/);
    const messages = await messagesTo(service, person.primaryEmail);
    expect(messages.map(({ template }) => template)).toEqual(Array(3).fill('FACTOR_ADDED'));
  });

  test('is asked for at the next sign-in, each code once', async () => {
    const { person, app } = await enrolled();
    const headless = await identify(person);
    expect(await readInteraction(headless.send)).toMatchObject({
      nextSteps: ['VERIFY_FACTOR'],
      factors: [{ type: 'TOTP' }],
    });
    for (const refused of [
      'submitInteraction',
      'enrollTotp',
      'createBackupCodes',
      'skipEnrollment',
    ])
      expect(await step(headless.send, refused)).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await verify(headless, app.code(-2))).toMatchObject(failed);
    expect(await verify(headless, app.code(3))).toMatchObject(failed);
    const code = app.code();
    expect(await verify(headless, ` ${code.slice(0, 3)} ${code.slice(3)} `)).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'] },
    });
    expect((await submit(headless)).claims()).toMatchObject({ amr: ['pwd', 'otp', 'mfa'] });
    const replay = await identify(person);
    for (const used of [code, app.code(-1)])
      expect(await verify(replay, used)).toMatchObject(failed);
    expect(await verify(replay, app.code(1))).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'] },
    });
  });

  test('lets one of many parallel uses of a code pass', async () => {
    const { person, app } = await enrolled();
    const tries = await Promise.all(Array.from({ length: 5 }, () => identify(person)));
    const code = app.code();
    const answers = await Promise.all(tries.map((headless) => verify(headless, code)));
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(1);
  });

  test('is locked after ten wrong codes, by any identifier', async () => {
    const { person, app } = await enrolled();
    const before = (await settledEvents(service, token)).length;
    const codes = [];
    for (let i = 0; i < 11; i += 1) {
      const headless = await start();
      const identifier = i % 2 ? person.primaryEmail : person.username;
      await step(headless.send, 'signInWithPassword', { identifier, password });
      codes.push((await verify(headless, app.wrongCode()))['code']);
    }
    expect(codes).toEqual([...Array(9).fill('VERIFICATION_FAILED'), 'LOCKED', 'LOCKED']);
    expect(await verify(await identify(person), app.code())).toMatchObject({ code: 'LOCKED' });
    const raised = (await settledEvents(service, token)).slice(before);
    expect(raised).toMatchObject([
      { name: 'Identifier.Lockout', data: { type: 'username', value: person.username } },
    ]);
    clock.advance(901_000);
    expect(await verify(await identify(person), app.code())).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'] },
    });
    clock.advance(11 * 60 * 1000);
  });

  test('concurrent guesses never exceed the limit', async () => {
    const { person, app } = await enrolled();
    const headless = await identify(person);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => verify(headless, app.wrongCode())),
    );
    expect(answers.filter(({ code }) => code === 'VERIFICATION_FAILED')).toHaveLength(9);
    clock.advance(11 * 60 * 1000);
  });

  test('two parallel confirmations add one', async () => {
    const person = await createPerson();
    const headless = await identify(person);
    const { secret } = await step(headless.send, 'enrollTotp');
    const code = authenticatorApp(clock, secret).code();
    await Promise.all([1, 2, 3].map(() => step(headless.send, 'confirmTotp', { code })));
    expect(await prisma.userFactor.count({ where: { userId: person.id } })).toBe(1);
  });
});

describe('what a stolen password cannot do', () => {
  test('add a factor beside the person’s own, begun before', async () => {
    const person = await createPerson();
    const thief = await identify(person);
    const { secret } = await step(thief.send, 'enrollTotp');
    await enrollApp((await identify(person)).send, clock);
    const code = authenticatorApp(clock, secret).code();
    expect(await step(thief.send, 'confirmTotp', { code })).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await step(thief.send, 'submitInteraction')).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await prisma.userFactor.count({ where: { userId: person.id } })).toBe(1);
  });

  test('add a factor after the person has changed the password', async () => {
    const person = await createPerson();
    const thief = await identify(person);
    const { secret } = await step(thief.send, 'enrollTotp');
    clock.advance(2_000);
    const owner = await start();
    const email = person.primaryEmail;
    const sent = await step(owner.send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
    const verificationId = sent['verification'].id;
    await step(owner.send, 'verifyCode', { verificationId, code: await codeTo(service, email) });
    await step(owner.send, 'resetPassword', { password: 'a long way home, twice' });
    const code = authenticatorApp(clock, secret).code();
    for (const [name, input] of [['confirmTotp', { code }], ['enrollTotp'], ['createBackupCodes']])
      expect(await step(thief.send, name as string, (input as object) ?? {})).toMatchObject({
        code: 'INTERACTION_EXPIRED',
      });
    // The owner goes on, and may add one.
    await enrollApp(owner.send, clock);
    expect((await submit(owner)).claims()).toMatchObject({ sub: person.id });
  });
});

test.each(['SIGN_IN', 'RESET_PASSWORD'])('a code for %s bypasses no factor', async (purpose) => {
  const { person, app } = await enrolled();
  const headless = await start();
  const email = person.primaryEmail;
  const sent = await step(headless.send, 'sendCode', { purpose, email });
  const code = await codeTo(service, email);
  const input = { verificationId: sent['verification'].id, code };
  await step(headless.send, 'verifyCode', input);
  if (purpose === 'RESET_PASSWORD')
    await step(headless.send, 'resetPassword', { password: 'a long way home, twice' });
  expect(await steps(headless)).toEqual(['VERIFY_FACTOR']);
  expect(await step(headless.send, 'submitInteraction')).toMatchObject({ code: 'NOT_ALLOWED' });
  await verify(headless, app.code());
  expect((await submit(headless)).claims()).toMatchObject({
    amr: ['otp', 'mfa'],
    acr: 'urn:signet:aal2',
  });
});

describe('backup codes', () => {
  const use = ({ send }: Headless, code: string) => step(send, 'verifyBackupCode', { code });

  test('stand in for the app, each once, as people write them', async () => {
    const person = await createPerson();
    const headless = await identify(person);
    await enrollApp(headless.send, clock);
    const { codes: old } = await step(headless.send, 'createBackupCodes');
    const { codes } = await step(headless.send, 'createBackupCodes');
    expect(new Set([...old, ...codes]).size).toBe(20);
    const again = await identify(person);
    expect(await readInteraction(again.send)).toMatchObject({
      factors: [{ type: 'TOTP' }, { type: 'BACKUP_CODES' }],
    });
    expect(await use(again, old[0])).toMatchObject(failed);
    const written = codes[0].toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O');
    expect(await use(again, written)).toMatchObject({ interaction: { nextSteps: ['SUBMIT'] } });
    expect((await submit(again)).claims()).toMatchObject({ acr: 'urn:signet:aal2' });
    expect(await use(await identify(person), codes[0])).toMatchObject(failed);
    const twins = await Promise.all([identify(person), identify(person)]);
    const answers = await Promise.all(twins.map((twin) => use(twin, codes[1])));
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(1);
  });

  test('alone are shown at once', async () => {
    const person = await createPerson();
    const headless = await identify(person);
    const { codes, interaction } = await step(headless.send, 'createBackupCodes');
    expect(interaction).toMatchObject({ nextSteps: ['VERIFY_FACTOR'] });
    expect(await use(headless, codes[9])).toMatchObject({ interaction: { nextSteps: ['SUBMIT'] } });
  });
});

test('the database holds no secret and no code in clear', async () => {
  const person = await createPerson();
  const headless = await identify(person);
  const pending = await step(headless.send, 'enrollTotp');
  const { codes } = await step(headless.send, 'createBackupCodes');
  const other = await enrolledSecret();
  const rows = await prisma.$queryRawUnsafe<{ row: string }[]>(
    `SELECT t::text AS "row" FROM "TotpEnrollment" t UNION ALL SELECT t::text FROM "UserFactor" t
     UNION ALL SELECT t::text FROM "BackupCode" t UNION ALL SELECT t::text FROM "Event" t
     UNION ALL SELECT t::text FROM "Message" t`,
  );
  const bare = (code: string) => code.replaceAll('-', '');
  for (const secret of [pending['secret'], other, ...codes, ...codes.map(bare)]) {
    const hex = Buffer.from(secret).toString('hex');
    expect(rows.filter(({ row }) => row.includes(secret) || row.includes(hex))).toEqual([]);
  }
});

async function enrolledSecret(): Promise<string> {
  const { send } = await identify(await createPerson());
  const { secret } = await step(send, 'enrollTotp');
  await step(send, 'confirmTotp', { code: authenticatorApp(clock, secret).code() });
  return secret;
}

describe('policy', () => {
  test('an offer may be declined, and is not repeated', async () => {
    const person = await createPerson();
    const headless = await identify(person);
    expect(await step(headless.send, 'skipEnrollment')).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'] },
    });
    expect((await submit(headless)).claims()).toMatchObject({ acr: 'urn:signet:aal1' });
    const again = await identify(person);
    expect(await steps(again)).toEqual(['SUBMIT']);
    // They may change their mind.
    await enrollApp(again.send, clock);
  });

  test('REQUIRED asks for an enrolment that nobody skips', async () => {
    await change({ factorPolicy: 'REQUIRED' });
    const headless = await identify(await createPerson());
    expect(await steps(headless)).toEqual(['ENROLL_FACTOR']);
    for (const refused of ['skipEnrollment', 'submitInteraction'])
      expect(await step(headless.send, refused)).toMatchObject({ code: 'NOT_ALLOWED' });
    await enrollApp(headless.send, clock);
    expect((await submit(headless)).claims()).toMatchObject({ acr: 'urn:signet:aal2' });
    await change({ factorPolicy: 'OPTIONAL' });
  });

  test('an organization can require it of its members', async () => {
    const person = await createPerson();
    const organization = await fixture.directory.createOrganization();
    await prisma.organization.update({
      where: { id: organization.id },
      data: { requiresFactor: true },
    });
    await fixture.directory.addMember(organization, person);
    expect(await steps(await identify(person))).toEqual(['ENROLL_FACTOR']);
    expect(await steps(await identify(await createPerson()))).toContain('SUBMIT');
  });

  test('a kind that is switched off is neither asked for nor taken', async () => {
    const { person, app } = await enrolled();
    await change({ factors: ['BACKUP_CODES'] });
    const headless = await identify(person);
    expect(await steps(headless)).toEqual(['ENROLL_FACTOR', 'SUBMIT']);
    expect(await verify(headless, app.code())).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await step(headless.send, 'enrollTotp')).toMatchObject({ code: 'NOT_ALLOWED' });
    await change({ factors: [] });
    expect(await steps(await identify(person))).toEqual(['SUBMIT']);
    await change({ factors: ['TOTP', 'BACKUP_CODES'] });
    expect(await steps(await identify(person))).toEqual(['VERIFY_FACTOR']);
  });
});

test('nobody adds or shows a factor before signing in', async () => {
  const { send } = await start();
  for (const [name, input] of [
    ['enrollTotp', {}],
    ['confirmTotp', { code: '123456' }],
    ['createBackupCodes', {}],
    ['verifyTotp', { code: '123456' }],
    ['verifyBackupCode', { code: 'x' }],
    ['skipEnrollment', {}],
  ] as const)
    expect(await step(send, name, input)).toMatchObject({ code: 'NOT_ALLOWED' });
});
