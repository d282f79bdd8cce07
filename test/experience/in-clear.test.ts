import { pino } from 'pino';
import { expect, test } from 'vitest';
import { codeTo } from '../support/people/messages.ts';
import { headlessDriver } from '../support/people/sign-in-drivers.ts';
import { createSignInFixture } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const lines: string[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
const service = await startService({ LOG_LEVEL: 'trace' }, { log });
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const admin = await service.managementToken();
await changeSettings(service, admin, { signUpIdentifiers: ['EMAIL'] });
const client = await fixture.createApplication({ allowHeadlessSignIn: true });

const email = 'grace@example.com';
const [password, newPassword, wrongPassword] = [
  'seven tall ships at dawn',
  'nine small boats at dusk',
  'ten lost oars at noon',
];

/** Every row of every table, as text. */
async function everything(): Promise<string> {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT table_name AS "name" FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`;
  const rows = await Promise.all(
    tables.map(({ name }) =>
      prisma.$queryRawUnsafe<{ row: string }[]>(
        `SELECT to_json(t)::text AS "row" FROM "${name}" t`,
      ),
    ),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

test('no log line or table holds a secret in clear', async () => {
  const codes: string[] = [];
  const tokens: string[] = [admin];
  const begin = () => headlessDriver.start(service, client);
  const enterCode = async (person: Awaited<ReturnType<typeof begin>>) => {
    const code = await codeTo(service, email);
    codes.push(code);
    return person.verifyCode(code);
  };
  const finish = async (person: Awaited<ReturnType<typeof begin>>) => {
    const { access_token: access, id_token: id, refresh_token: refresh } = await person.submit();
    tokens.push(...[access, id, refresh].filter((one) => one !== undefined));
  };

  const newcomer = await begin();
  await newcomer.sendCode('REGISTER', { email });
  expect(await enterCode(newcomer)).toMatchObject({ code: 'OK' });
  expect(await newcomer.register({ password })).toMatchObject({ code: 'OK' });
  await finish(newcomer);

  const guest = await begin();
  expect(await guest.signInWithPassword(email, wrongPassword)).toMatchObject({
    code: 'VERIFICATION_FAILED',
  });
  expect(await guest.signInWithPassword(email, password)).toMatchObject({ code: 'OK' });
  await finish(guest);

  const forgetful = await begin();
  await forgetful.sendCode('RESET_PASSWORD', { email });
  expect(await enterCode(forgetful)).toMatchObject({ code: 'OK' });
  expect(await forgetful.resetPassword(newPassword)).toMatchObject({ code: 'OK' });
  await finish(forgetful);

  const held = `${lines.join('\n')}\n${await everything()}`;
  // What is looked for would be found.
  expect(held).toContain(email);
  for (const secret of [password, newPassword, wrongPassword, ...tokens]) {
    expect(held).not.toContain(secret);
  }
  for (const code of codes) {
    expect(held).not.toMatch(new RegExp(`(?<![\\w-])${code}(?![\\w-])`));
  }
});
