import { decodeJwt } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { iatOf } from '../../src/auth/access-token.ts';
import { systemActor } from '../../src/services.ts';
import { updateUserPassword, updateUserSuspensionStatus } from '../../src/users/operations.ts';
import { signOutUser } from '../../src/users/sign-out.ts';
import { testCall } from '../support/log.ts';
import { createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { exchange, isActive } from '../support/tokens.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { directory, resource } = fixture;
const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
const context = { ...service.app.services, actor: systemActor, ...testCall };

test.each([
  [5_000, 4],
  [5_001, 4],
  [5_999, 4],
  [6_000, 5],
])('of a token that is issued at %i ms, iat is %i', (at, iat) => {
  expect(iatOf(new Date(at))).toBe(iat);
});

const endings = {
  'a sign-out': (id: string) => signOutUser(context, { id }),
  'a new password': (id: string) => updateUserPassword(context, { id, password }),
  'a suspension': async (id: string) => {
    await updateUserSuspensionStatus(context, { id, isSuspended: true });
    await updateUserSuspensionStatus(context, { id, isSuspended: false });
  },
};

test.each(Object.entries(endings))(
  '%s ends what was issued a moment before, and nothing a moment after',
  async (_what, end) => {
    onTestFinished(service.clock.freeze());
    const user = await fixture.createUser();
    /** A token of a sign-in, and one that is exchanged from it. */
    const issue = async () => {
      const { access_token: token } = await fixture.signIn({
        username: user.username ?? '',
        resource: resource.indicator,
      });
      const { body } = await exchange(service, backend, {
        subject_token: token,
        resource: resource.indicator,
      });
      const now = service.clock.now().getTime() / 1000;
      for (const [issued, expiresIn] of [
        [token, 3600],
        [String(body['access_token']), Number(body['expires_in'])],
      ] as const) {
        const { iat = 0, exp = 0 } = decodeJwt(issued);
        expect(iat).toBe(Math.floor(now) - 1);
        expect(exp).toBe(Math.floor(now) + expiresIn);
      }
      return [token, String(body['access_token'])];
    };
    const areActive = async (tokens: readonly string[]) =>
      Promise.all(tokens.map((token) => isActive(service, backend, token)));

    const before = await issue();
    expect(await areActive(before)).toEqual([true, true]);
    service.clock.advance(1);
    await end(user.id);
    service.clock.advance(1);
    const after = await issue();
    expect(await areActive(before)).toEqual([false, false]);
    expect(await areActive(after)).toEqual([true, true]);
  },
);
