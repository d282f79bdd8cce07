import { describe, expect, test } from 'vitest';
import { openingsOf } from '../../../src/auth/granting/openings.ts';
import {
  byCode,
  byPassword,
  byToken,
  password,
  startAttack,
  upTo,
} from '../../support/granting/attacker.ts';
import { laterFields, laterOperations } from '../../support/granting/later.ts';
import { step } from '../../support/people/experience.ts';
import { codeTo } from '../../support/people/messages.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const attack = await startAttack(service);
const { make, next, done, setUp, promote, empower, rightsBy, rightsIn, signedIn } = attack;
const setters = ['users:write', 'all'] as const;

let phones = 0;
const nextPhone = () => {
  phones += 1;
  return `+4915100000${100 + phones}`;
};

describe.each(setters)('what a caller with %s sets up gives no more', (scope) => {
  test('a user that it creates', async () => {
    const [username, primaryEmail] = [next('new'), `${next('new')}@example.com`];
    const { user } = await setUp(scope, 'createUser', {
      username,
      password,
      primaryEmail,
      isEmailVerified: true,
      primaryPhone: nextPhone(),
      isPhoneVerified: true,
    });
    await promote(user.id);
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
    expect(
      await rightsBy(byCode({ email: primaryEmail }, () => codeTo(service, primaryEmail))),
    ).toEqual(upTo(scope));
    await done('updateUser', { id: user.id, isVouchedFor: true });
    expect(await rightsBy(byPassword(username))).toEqual(upTo('all'));
  });

  test('a user that it imports', async () => {
    const username = next('imported');
    const { users } = await setUp(scope, 'importUsers', { users: [{ username, password }] });
    await promote(users[0].id);
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
  });

  test('a role of a user that it imports', async () => {
    const [username, role] = [next('imported'), await make.role()];
    await setUp(scope, 'importUsers', { users: [{ username, password, roleIds: [role] }] });
    const { id } = await attack.prisma.user.findFirstOrThrow({ where: { username } });
    await done('updateUser', { id, isVouchedFor: true });
    await empower(role);
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
  });

  test('the names and addresses of a user', async () => {
    const id = await make.user();
    const [username, email, phone] = [next('mine'), `${next('mine')}@example.com`, nextPhone()];
    const fields = [
      { username },
      { primaryEmail: email },
      { isEmailVerified: true },
      { primaryPhone: phone },
      { isPhoneVerified: true },
    ];
    for (const one of fields) await setUp(scope, 'updateUser', { id, ...one });
    await promote(id);
    for (const [address, recipient] of [
      [{ email }, email],
      [{ phone }, phone],
    ] as const) {
      const read = () => codeTo(service, recipient);
      expect(await rightsBy(byCode(address, read))).toEqual(upTo(scope));
    }
  });

  test.each(['username', 'primaryEmail', 'primaryPhone', 'isEmailVerified', 'isPhoneVerified'])(
    'the %s alone of a user binds them',
    async (field) => {
      const email = `${next('known')}@example.com`;
      const id = await make.user({ primaryEmail: email, primaryPhone: nextPhone(), password });
      const value = {
        username: next('mine'),
        primaryEmail: `${next('mine')}@example.com`,
        primaryPhone: nextPhone(),
        isEmailVerified: true,
        isPhoneVerified: true,
      }[field];
      await setUp(scope, 'updateUser', { id, [field]: value });
      await promote(id);
      const { username } = await attack.prisma.user.findUniqueOrThrow({ where: { id } });
      expect(await rightsBy(byPassword(username ?? ''))).toEqual(upTo(scope));
    },
  );

  test('the password of a user', async () => {
    const username = next('known');
    const id = await make.user({ username });
    await setUp(scope, 'updateUserPassword', { id, password });
    const browser = await signedIn(byPassword(username));
    await promote(id);
    expect((await rightsIn(browser)).scopes).toEqual(upTo(scope));
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
  });

  test('a one-time token, used before or after its owner gets rights', async () => {
    const email = `${next('owner')}@example.com`;
    const id = await make.user({ primaryEmail: email, isEmailVerified: true });
    const first = await setUp(scope, 'createOneTimeToken', { email });
    const second = await setUp(scope, 'createOneTimeToken', { email });
    const browser = await signedIn(byToken(email, first.token));
    await promote(id);
    expect((await rightsIn(browser)).scopes).toEqual(upTo(scope));
    // An administrator who answers for the person does not answer for whoever is signed in already.
    await done('updateUser', { id, isVouchedFor: true });
    expect((await rightsIn(browser)).scopes).toEqual(scope === 'all' ? upTo('all') : []);
    expect(await rightsBy(byToken(email, second.token))).toEqual(
      scope === 'all' ? upTo('all') : [],
    );
  });

  test('a one-time token with which somebody registers', async () => {
    const email = `${next('stranger')}@example.com`;
    const { token } = await setUp(scope, 'createOneTimeToken', { email });
    const browser = await signedIn(async (send, at) => {
      await byToken(email, token)(send, at);
      return step(send, 'register', { username: next('stranger'), password });
    });
    const { id } = await attack.prisma.user.findFirstOrThrow({ where: { primaryEmail: email } });
    await promote(id);
    expect((await rightsIn(browser)).scopes).toEqual(upTo(scope));
    expect(await rightsBy(byPassword(email))).toEqual(upTo(scope));
  });

  test.each(['assignUserRoles', 'replaceUserRoles'])('a role given by %s', async (operation) => {
    const username = next('friend');
    const [userId, role] = [await make.user({ username, password }), await make.role()];
    await setUp(scope, operation, { userId, roleIds: [role] });
    await empower(role);
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
    await setUp('users:write', 'assignUserRoles', { userId, roleIds: [role] }).catch(
      () => undefined,
    );
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
    await done('assignUserRoles', { userId, roleIds: [role] });
    expect(await rightsBy(byPassword(username))).toEqual(upTo('all'));
  });
});

describe.each(['roles:write', 'all'] as const)('a default role made by %s', (scope) => {
  test.each(['createRole', 'updateRole'])('by %s gives new users no more', async (operation) => {
    const name = next('default');
    const id =
      operation === 'createRole'
        ? (await setUp(scope, operation, { name, isDefault: true })).role.id
        : await make.role({ name });
    if (operation === 'updateRole') await setUp(scope, operation, { id, isDefault: true });
    await empower(id);
    const newcomer = async () => {
      const username = next('newcomer');
      await make.user({ username, password });
      return rightsBy(byPassword(username));
    };
    expect(await newcomer()).toEqual(upTo(scope));
    await done('updateRole', { id, isDefault: true });
    expect(await newcomer()).toEqual(upTo('all'));
    await done('deleteRole', { id });
  });
});

test('every later field of users and roles is attacked', () => {
  expect(attack.missing(laterOperations.users)).toEqual([]);
});

test('each operation that opens rights later is attacked in one of these files', () => {
  const later = Object.keys(openingsOf).filter((operation) => laterFields(operation).length > 0);
  expect(Object.values(laterOperations).flat().sort()).toEqual(later.sort());
});
