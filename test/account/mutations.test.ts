import { describe, expect, test } from 'vitest';
import type { User } from '../../src/generated/prisma/client.ts';
import { newId } from '../../src/ids.ts';
import { digestOf } from '../../src/keys/digest.ts';

import {
  type AccountClient,
  createAccountFixture,
  endOfLog,
  recordedSince,
} from '../support/people/account.ts';
import { manager } from '../support/people/federation.ts';
import { codeTo, messagesTo } from '../support/people/messages.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createAccountFixture(service);
const { client, createUser, signInTo, database } = fixture;
const { prisma } = database;
const admin = await manager(service);

let count = 0;

/** A person with an e-mail address and a telephone number, signed in. */
async function person(values: Partial<User> = {}): Promise<{ user: User; me: AccountClient }> {
  count += 1;
  const user = await createUser({
    username: `person${count}`,
    primaryEmail: `person${count}@example.com`,
    primaryPhone: `+4915100000${String(count).padStart(3, '0')}`,
    ...(values as object),
  });
  return { user, me: await signInTo(user.username ?? '') };
}

const prove = (me: AccountClient) => me.run('verifyViewerPassword', { password });

/** Sends a code to an address and gives it back. */
async function verifyAddress(me: AccountClient, address: { email: string } | { phone: string }) {
  const sent = await me.run('sendViewerCode', address);
  const [recipient = ''] = Object.values(address) as string[];
  const code = await codeTo(service, recipient);
  return me.run('verifyViewerCode', { verificationId: sent['verification'].id, code });
}

const required = { __typename: 'VerificationRequiredError', code: 'VERIFICATION_REQUIRED' };

describe('updateViewer', () => {
  test('changes name, picture and profile, without a proof', async () => {
    const { user, me } = await person({ profile: { nickname: 'P', locale: 'de' } });
    const start = await endOfLog(service);
    const result = await me.run('updateViewer', {
      name: 'Ada',
      avatar: 'https://example.com/ada.png',
      profile: { nickname: null, website: 'https://ada.example' },
    });
    expect(result).toMatchObject({
      __typename: 'UpdateViewerPayload',
      viewer: {
        id: user.id,
        name: 'Ada',
        avatar: 'https://example.com/ada.png',
        profile: { locale: 'de', website: 'https://ada.example' },
      },
    });
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'User.Data.Updated',
        actor: { type: 'USER', id: user.id, clientId: client.id },
        data: { id: user.id, changes: { name: { from: null, to: 'Ada' } } },
      },
    ]);
  });

  test('names what it does not accept, and changes nothing', async () => {
    const { user, me } = await person();
    const start = await endOfLog(service);
    expect(
      await me.run('updateViewer', { name: 'x'.repeat(200), avatar: 'javascript:x' }),
    ).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['name'] }, { path: ['avatar'] }],
    });
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({ name: null });
    expect(await recordedSince(service, start)).toEqual([]);
  });
});

describe('a proof', () => {
  test('is asked for, and the sign-in is none', async () => {
    const { user, me } = await person();
    const start = await endOfLog(service);
    const input: Record<string, object> = {
      updateViewerUsername: { username: 'stolen' },
      updateViewerEmail: { verificationId: 'verification_01h455vb4pex5vsknk084sn02q' },
      updateViewerPhone: { verificationId: 'verification_01h455vb4pex5vsknk084sn02q' },
      updateViewerPassword: { password: 'a stolen token sets this' },
      deleteViewer: {},
    };
    for (const [name, values] of Object.entries(input)) {
      expect(await me.run(name, values)).toMatchObject({
        ...required,
        methods: ['PASSWORD', 'EMAIL_CODE', 'PHONE_CODE'],
      });
    }
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      username: user.username,
      passwordDigest: user.passwordDigest,
    });
    expect(await recordedSince(service, start)).toEqual([]);
  });

  test('counts for ten minutes', async () => {
    const { me } = await person();
    const proved = await prove(me);
    expect(proved['__typename']).toBe('VerifyViewerPasswordPayload');
    service.clock.advance(9 * 60_000);
    expect(await me.run('updateViewerUsername', { username: 'in_time' })).toMatchObject({
      viewer: { username: 'in_time' },
    });
    service.clock.advance(61_000);
    expect(await me.run('updateViewerUsername', { username: 'too_late' })).toMatchObject(required);
  });

  test('counts in its own session alone, also after a refresh', async () => {
    const { user, me } = await person();
    const other = await signInTo(user.username ?? '');
    await prove(me);
    expect(await other.run('updateViewerUsername', { username: 'elsewhere' })).toMatchObject(
      required,
    );
    expect(await me.run('updateViewerUsername', { username: 'right_here' })).toMatchObject({
      viewer: { username: 'right_here' },
    });
  });

  test('is a code to the own address', async () => {
    const { user, me } = await person();
    const verified = await verifyAddress(me, { email: user.primaryEmail ?? '' });
    expect(verified).toMatchObject({ __typename: 'VerifyViewerCodePayload' });
    expect(verified['verifiedUntil']).not.toBeNull();
    expect(await messagesTo(service, user.primaryEmail ?? '')).toMatchObject([
      { template: 'VERIFY_IDENTITY', channel: 'EMAIL' },
    ]);
    expect((await me.run('updateViewerUsername', { username: 'by_code' }))['viewer']).toBeTruthy();
  });

  test('is no code to a new address', async () => {
    const { me } = await person();
    const verified = await verifyAddress(me, { email: 'thief@example.com' });
    expect(verified).toMatchObject({ __typename: 'VerifyViewerCodePayload', verifiedUntil: null });
    const { id } = verified['verification'];
    expect(await me.run('updateViewerEmail', { verificationId: id })).toMatchObject(required);
    expect(await me.run('updateViewerUsername', { username: 'thief' })).toMatchObject(required);
  });

  test('is no wrong password, and guesses lock', async () => {
    const { me } = await person();
    for (let guess = 1; guess < 10; guess += 1) {
      expect(await me.run('verifyViewerPassword', { password: `guess ${guess}` })).toMatchObject({
        __typename: 'VerificationFailedError',
      });
    }
    expect((await me.run('verifyViewerPassword', { password: 'guess 10' }))['__typename']).toBe(
      'LockedError',
    );
    expect((await prove(me))['__typename']).toBe('LockedError');
    expect(await me.run('updateViewerUsername', { username: 'guessed' })).toMatchObject(required);
  });
});

describe('updateViewerUsername', () => {
  test('changes it, and tells the person', async () => {
    const { user, me } = await person();
    await prove(me);
    const start = await endOfLog(service);
    expect(await me.run('updateViewerUsername', { username: 'Lovelace' })).toMatchObject({
      viewer: { username: 'Lovelace' },
    });
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'User.Data.Updated',
        data: { changes: { username: { from: user.username, to: 'Lovelace' } } },
      },
    ]);
    expect(await messagesTo(service, user.primaryEmail ?? '')).toMatchObject([
      { template: 'USERNAME_CHANGED' },
    ]);
  });

  test('refuses one that is taken, whatever its case', async () => {
    const { user } = await person();
    const { me } = await person();
    await prove(me);
    expect(
      await me.run('updateViewerUsername', { username: (user.username ?? '').toUpperCase() }),
    ).toMatchObject({ __typename: 'ConflictError', path: ['username'] });
    expect(await me.run('updateViewerUsername', { username: 'no spaces' })).toMatchObject({
      __typename: 'InvalidInputError',
    });
  });
});

describe('a new address', () => {
  test('becomes that of the account, and the old one is told', async () => {
    const { user, me } = await person();
    await prove(me);
    const { verification } = await verifyAddress(me, { email: 'new.Ada@example.org' });
    const start = await endOfLog(service);
    expect(await me.run('updateViewerEmail', { verificationId: verification.id })).toMatchObject({
      viewer: { primaryEmail: 'new.Ada@example.org', isEmailVerified: true },
    });
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'User.Data.Updated',
        actor: { type: 'USER', id: user.id, clientId: client.id },
        data: {
          changes: {
            primaryEmail: { from: user.primaryEmail, to: 'new.Ada@example.org' },
            isEmailVerified: { from: false, to: true },
          },
        },
      },
    ]);
    expect(await messagesTo(service, user.primaryEmail ?? '')).toMatchObject([
      { template: 'EMAIL_CHANGED' },
    ]);
    // Used up.
    expect(await me.run('updateViewerEmail', { verificationId: verification.id })).toMatchObject({
      __typename: 'VerificationFailedError',
    });
  });

  test('does not replace one that an administrator has set since', async () => {
    const { user, me } = await person();
    await prove(me);
    const { verification } = await verifyAddress(me, { email: 'overtaken@example.org' });
    const { verification: sent } = await me.run('sendViewerCode', { email: 'asked@example.org' });
    const byPhone = await verifyAddress(me, { phone: '+4915188888888' });
    const primaryEmail = 'set-by-admin@example.org';
    await admin.done('updateUser', { id: user.id, primaryEmail });
    const failed = { __typename: 'VerificationFailedError' };
    const taken = { verificationId: verification.id };
    expect(await me.run('updateViewerEmail', taken)).toMatchObject(failed);
    const code = await codeTo(service, 'asked@example.org');
    expect(await me.run('verifyViewerCode', { verificationId: sent.id, code })).toMatchObject(
      failed,
    );
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      primaryEmail,
    });
    // The other kind of address did not change meanwhile.
    const phone = { verificationId: byPhone['verification'].id };
    expect(await me.run('updateViewerPhone', phone)).toHaveProperty('viewer');
  });

  test('may be a telephone number', async () => {
    const { user, me } = await person();
    await prove(me);
    const { verification } = await verifyAddress(me, { phone: '+4915199999999' });
    expect(await me.run('updateViewerEmail', { verificationId: verification.id })).toMatchObject({
      __typename: 'VerificationFailedError',
    });
    expect(await me.run('updateViewerPhone', { verificationId: verification.id })).toMatchObject({
      viewer: { primaryPhone: '+4915199999999', isPhoneVerified: true },
    });
    expect(await messagesTo(service, user.primaryPhone ?? '')).toMatchObject([
      { template: 'PHONE_CHANGED', channel: 'SMS' },
    ]);
  });

  test("that is somebody else's shows it to its holder alone", async () => {
    const { user: victim } = await person();
    const { me } = await person();
    await prove(me);
    const free = await me.run('sendViewerCode', { email: 'free@example.com' });
    const taken = await me.run('sendViewerCode', { email: victim.primaryEmail });
    expect(Object.keys(taken)).toEqual(Object.keys(free));
    expect(await messagesTo(service, victim.primaryEmail ?? '')).toMatchObject([
      { template: 'VERIFY_ADDRESS' },
    ]);
    const wrong = await me.run('verifyViewerCode', {
      verificationId: taken['verification'].id,
      code: 'wrong',
    });
    expect(wrong).toMatchObject({ __typename: 'VerificationFailedError' });
    const code = await codeTo(service, victim.primaryEmail ?? '');
    const { verification } = await me.run('verifyViewerCode', {
      verificationId: taken['verification'].id,
      code,
    });
    expect(await me.run('updateViewerEmail', { verificationId: verification.id })).toMatchObject({
      __typename: 'ConflictError',
      path: ['primaryEmail'],
    });
  });

  test('is one session’s, and nobody else’s', async () => {
    const { user, me } = await person();
    const { me: stranger } = await person();
    const other = await signInTo(user.username ?? '');
    const sent = await me.run('sendViewerCode', { email: 'mine@example.com' });
    const code = await codeTo(service, 'mine@example.com');
    const input = { verificationId: sent['verification'].id, code };
    for (const one of [stranger, other]) {
      expect(await one.run('verifyViewerCode', input)).toMatchObject({
        __typename: 'VerificationFailedError',
      });
    }
    expect(await me.run('verifyViewerCode', input)).toMatchObject({ verifiedUntil: null });
    for (const one of [stranger, other]) {
      await prove(one);
      expect(
        await one.run('updateViewerEmail', { verificationId: sent['verification'].id }),
      ).toMatchObject({ __typename: 'VerificationFailedError' });
    }
  });

  test('is not asked for twice at once, or none', async () => {
    const { me } = await person();
    for (const input of [{}, { email: 'a@example.com', phone: '+4915100000000' }]) {
      expect(await me.run('sendViewerCode', input)).toMatchObject({
        __typename: 'InvalidInputError',
      });
    }
  });

  test('gets a limited number of codes', async () => {
    const { me } = await person();
    const start = await endOfLog(service);
    for (let sent = 0; sent < 10; sent += 1)
      await me.run('sendViewerCode', { email: 'much@example.com' });
    expect(await me.run('sendViewerCode', { email: 'much@example.com' })).toMatchObject({
      __typename: 'RateLimitedError',
    });
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'Message.RateLimited',
        data: { action: 'VERIFY_ADDRESS', recipient: 'much@example.com' },
      },
    ]);
  });

  test('goes to few new addresses, however many there are', async () => {
    const { me } = await person();
    const send = (i: number) => me.run('sendViewerCode', { email: `new-${i}@example.com` });
    for (let sent = 0; sent < 30; sent += 1)
      expect(await send(sent)).toMatchObject({ __typename: 'SendViewerCodePayload' });
    expect(await send(30)).toMatchObject({ __typename: 'RateLimitedError' });
    const { me: other } = await person();
    expect(await other.run('sendViewerCode', { email: 'new-30@example.com' })).toMatchObject({
      __typename: 'SendViewerCodePayload',
    });
  });

  test('keeps earlier codes good, within one budget', async () => {
    const { user, me } = await person();
    const email = user.primaryEmail ?? '';
    await me.run('sendViewerCode', { email });
    const first = await codeTo(service, email);
    const again = await me.run('sendViewerCode', { email });
    expect(
      await me.run('verifyViewerCode', { verificationId: again['verification'].id, code: first }),
    ).toMatchObject({ __typename: 'VerifyViewerCodePayload' });
    expect(
      await me.run('verifyViewerCode', { verificationId: again['verification'].id, code: first }),
    ).toMatchObject({ __typename: 'VerificationFailedError' });
  });
});

describe('updateViewerPassword', () => {
  test('replaces it, ends other sessions, and keeps this one', async () => {
    const { user, me } = await person();
    const other = await signInTo(user.username ?? '');
    await prove(me);
    const start = await endOfLog(service);
    expect(
      await me.run('updateViewerPassword', { password: 'a completely new secret' }),
    ).toMatchObject({
      viewer: { id: user.id, hasPassword: true },
    });
    expect(await recordedSince(service, start)).toMatchObject([
      { type: 'User.Data.Updated', data: { changes: {} } },
      { type: 'User.Credential.Updated', data: { credential: 'PASSWORD', change: 'CHANGED' } },
      { type: 'User.Session.Ended', data: { reason: 'PASSWORD' } },
    ]);
    expect((await other.query('{ viewer { id } }')).status).toBe(401);
    expect((await me.query('{ viewer { sessions { totalCount } } }')).body.data).toEqual({
      viewer: { sessions: { totalCount: 1 } },
    });
    expect(await messagesTo(service, user.primaryEmail ?? '')).toMatchObject([
      { template: 'PASSWORD_CHANGED' },
    ]);
    await expect(signInTo(user.username ?? '')).rejects.toThrow();
    await signInTo(user.username ?? '', { password: 'a completely new secret' });
  });

  test('refuses a bad one with its reasons', async () => {
    const { user, me } = await person();
    await prove(me);
    expect(await me.run('updateViewerPassword', { password: '1234' })).toMatchObject({
      __typename: 'PasswordRejectedError',
      reasons: [{ code: 'TOO_SHORT' }, { code: 'COMMON' }],
    });
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      passwordDigest: user.passwordDigest,
    });
  });
});

describe('sessions', () => {
  test('end one by one', async () => {
    const { user, me } = await person();
    const other = await signInTo(user.username ?? '');
    const { body } = await other.query(
      '{ viewer { sessions { edges { node { id isCurrent } } } } }',
    );
    const edges: { node: { id: string; isCurrent: boolean } }[] =
      body.data?.['viewer']?.['sessions'].edges;
    const { id = '' } = edges.find(({ node }) => node.isCurrent)?.node ?? {};
    expect(edges).toHaveLength(2);
    expect(await me.run('endViewerSession', { id })).toMatchObject({
      session: { id, isCurrent: false },
    });
    expect((await other.query('{ viewer { id } }')).status).toBe(401);
    expect(await me.run('endViewerSession', { id })).toMatchObject({ __typename: 'NotFoundError' });
  });

  test('of others are not found', async () => {
    const { user, me } = await person();
    const { me: stranger } = await person();
    const [session] = await prisma.session.findMany({ where: { userId: user.id } });
    expect(await stranger.run('endViewerSession', { id: session?.id })).toMatchObject({
      __typename: 'NotFoundError',
    });
    expect((await me.query('{ viewer { id } }')).status).toBe(200);
  });

  test('end together, but for the own', async () => {
    const { user, me } = await person();
    const others = [await signInTo(user.username ?? ''), await signInTo(user.username ?? '')];
    const ended = await me.run('endOtherViewerSessions');
    expect(ended['sessions']).toHaveLength(2);
    for (const other of others) expect((await other.query('{ viewer { id } }')).status).toBe(401);
    expect((await me.query('{ viewer { id } }')).status).toBe(200);
    expect((await me.run('endOtherViewerSessions'))['sessions']).toEqual([]);
  });

  test('end together with the personal access tokens', async () => {
    const { user, me } = await person();
    const { user: other } = await person();
    const createdAt = service.clock.now();
    for (const { id: userId } of [user, other]) {
      await prisma.personalAccessToken.create({
        data: {
          id: newId('PersonalAccessToken'),
          userId,
          name: 'A script',
          digest: digestOf(userId),
          createdAt,
          expiresAt: new Date(createdAt.getTime() + 86_400_000),
        },
      });
    }
    const [token] = await prisma.personalAccessToken.findMany({ where: { userId: user.id } });
    await me.run('endOtherViewerSessions');
    expect(await prisma.personalAccessToken.count({ where: { userId: user.id } })).toBe(0);
    expect(await prisma.personalAccessToken.count({ where: { userId: other.id } })).toBe(1);
    // What was issued for it ends too.
    expect(await prisma.revokedToken.count({ where: { jti: token?.id ?? '' } })).toBe(1);
  });
});

describe('deleteViewer', () => {
  test('deletes the account, and tells the person', async () => {
    const { user, me } = await person();
    await prove(me);
    const start = await endOfLog(service);
    expect(await me.run('deleteViewer')).toMatchObject({
      id: user.id,
      viewer: { id: user.id, username: user.username, hasPassword: true },
    });
    expect(await recordedSince(service, start)).toMatchObject([
      { type: 'User.Session.Ended', data: { userId: user.id, reason: 'DELETION' } },
      { type: 'User.Deleted', actor: { type: 'USER', id: user.id }, data: { id: user.id } },
    ]);
    expect(await prisma.user.count({ where: { id: user.id } })).toBe(0);
    expect((await me.query('{ viewer { id } }')).status).toBe(401);
    expect(await messagesTo(service, user.primaryEmail ?? '')).toMatchObject([
      { template: 'ACCOUNT_DELETED' },
    ]);
  });
});
