import { afterEach, expect, test } from 'vitest';
import {
  byCode,
  password,
  type Steps,
  startAttack,
  upTo,
} from '../../support/granting/attacker.ts';
import { laterOperations } from '../../support/granting/later.ts';
import { startMailServer } from '../../support/peers/mail-server.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { step } from '../../support/people/experience.ts';
import { allowPrivate, passThrough } from '../../support/people/federation.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const service = await startService(allowPrivate);
const provider = await startOpenIdProvider(service.clock);
const other = await startOpenIdProvider(service.clock);
const receiver = await startReceiver();
const attack = await startAttack(service);
const { make, next, done, setUp, promote, rightsBy, rightsIn, signedIn } = attack;
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const setters = ['experience:write', 'all'] as const;

// Somebody with less than `all` chooses how people sign in as long as nobody holds more.
afterEach(async () => {
  await done('removeEmailSender', {});
  await done('removeSmsSender', {});
  await attack.prisma.userRole.deleteMany();
  await attack.prisma.identityProvider.deleteMany();
});

let phones = 0;
const nextPhone = () => {
  phones += 1;
  return `+4915100000${200 + phones}`;
};

/** The last code that was posted to a recipient. */
const postedTo = async (recipient: string) => {
  const of = (body: string) => JSON.parse(body) as { recipient: string; code: string };
  const received = await receiver.until((all) =>
    all.some(({ body }) => of(body).recipient === recipient),
  );
  return (
    received.map(({ body }) => of(body)).findLast((one) => one.recipient === recipient)?.code ?? ''
  );
};

/** Ways in which messages reach whoever sets the sender, and people whom they are for. */
const senders = {
  'an SMTP server': async (scope: string) => {
    const mail = await startMailServer();
    const smtp = { host: '127.0.0.1', port: mail.port, from: 'mine@example.com' };
    await setUp(scope, 'setEmailSender', { smtp });
    const find = (email: string) => mail.received.findLast(({ to }) => to.includes(email));
    return () => {
      const email = `${next('person')}@example.com`;
      const read = async () => {
        await eventually(() => expect(find(email)).toBeDefined());
        return /\b\d{6}\b/.exec(find(email)?.mail.text ?? '')?.[0] ?? '';
      };
      return { address: { email }, user: { primaryEmail: email, isEmailVerified: true }, read };
    };
  },
  'an HTTP endpoint for e-mail': async (scope: string) => {
    await setUp(scope, 'setEmailSender', { http: { url: receiver.url, secret } });
    return () => {
      const email = `${next('person')}@example.com`;
      const user = { primaryEmail: email, isEmailVerified: true };
      return { address: { email }, user, read: () => postedTo(email) };
    };
  },
  'an HTTP endpoint for SMS': async (scope: string) => {
    await setUp(scope, 'setSmsSender', { http: { url: receiver.url, secret } });
    return () => {
      const phone = nextPhone();
      const user = { primaryPhone: phone, isPhoneVerified: true };
      return { address: { phone }, user, read: () => postedTo(phone) };
    };
  },
};

test.each(
  Object.entries(senders).flatMap(([name, start]) =>
    setters.map((scope) => [name, scope, start] as const),
  ),
)('%s that %s sets lets nobody in with more', async (_name, scope, start) => {
  const person = await start(scope);
  const early = person();
  const late = person();
  const forgetful = person();
  const [earlyId, lateId, forgetfulId] = [
    await make.user(early.user),
    await make.user(late.user),
    await make.user(forgetful.user),
  ];
  const browser = await signedIn(byCode(early.address, early.read));
  const reset = await rightsBy(async (send) => {
    const asked = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', ...forgetful.address });
    const verificationId = asked['verification'].id;
    await step(send, 'verifyCode', { verificationId, code: await forgetful.read() });
    await promote(forgetfulId);
    return step(send, 'resetPassword', { password });
  });
  expect(reset).toEqual(scope === 'all' ? upTo('all') : []);
  await promote(earlyId);
  expect((await rightsIn(browser)).scopes).toEqual(upTo(scope));
  // The code is on its way when they get rights.
  const readAndPromote = async () => {
    const code = await late.read();
    await promote(lateId);
    return code;
  };
  const rights = await rightsBy(byCode(late.address, readAndPromote));
  expect(rights).toEqual(scope === 'all' ? upTo('all') : []);
});

test('a code that a lesser caller could read is void once there is another sender', async () => {
  const person = await senders['an HTTP endpoint for e-mail']('experience:write');
  for (const change of [
    () => done('removeEmailSender', {}),
    () => done('setEmailSender', { http: { url: receiver.url, secret } }),
  ]) {
    const { address, user, read } = person();
    await make.user(user);
    const steps = byCode(address, async () => {
      const code = await read();
      await change();
      return code;
    });
    await expect(signedIn(steps)).rejects.toThrow();
    await setUp('experience:write', 'setEmailSender', { http: { url: receiver.url, secret } });
  }
});

/** Comes from the provider as somebody. */
const federating =
  (identityProviderId: string, subject: string, email: string): Steps =>
  async (send, browser) => {
    const { url } = await step(send, 'startFederation', { identityProviderId });
    provider.expect(subject, { email, email_verified: true });
    return browser.open(await passThrough(url));
  };

const settings = () => ({
  name: next('provider'),
  kind: 'SOCIAL',
  issuer: provider.issuer,
  clientId: provider.clientId,
  clientSecret: provider.clientSecret,
  scopes: ['openid', 'email'],
  emailDomains: ['example.com'],
  enabled: true,
});

/** Whoever a provider vouches for, before and after they get rights. */
async function attackBy(id: string, scope: string) {
  const owner = async () => {
    const email = `${next('owner')}@example.com`;
    const userId = await make.user({ primaryEmail: email, isEmailVerified: true });
    return { email, userId };
  };
  const [early, late] = [await owner(), await owner()];
  const browser = await signedIn(federating(id, next('subject'), early.email));
  const stranger = `${next('stranger')}@example.com`;
  const registering: Steps = async (send, at) => {
    const { url } = await step(send, 'startFederation', { identityProviderId: id });
    provider.expect(stranger, { email: stranger, email_verified: true });
    await at.open(await passThrough(url));
    return step(send, 'completeProfile', { username: next('stranger') });
  };
  const newcomer = await signedIn(registering);
  const { id: newId } = await attack.prisma.user.findFirstOrThrow({
    where: { primaryEmail: stranger },
  });
  for (const userId of [early.userId, late.userId, newId]) await promote(userId);
  for (const one of [browser, newcomer]) expect((await rightsIn(one)).scopes).toEqual(upTo(scope));
  const after = await rightsBy(federating(id, next('subject'), late.email));
  expect(after).toEqual(scope === 'all' ? upTo('all') : []);
}

test.each(setters)('an identity provider that %s creates', async (scope) => {
  const { identityProvider } = await setUp(scope, 'createIdentityProvider', settings());
  await attackBy(identityProvider.id, scope);
});

test('an administrator answers for a provider by its issuer alone', async () => {
  const { identityProvider } = await setUp(
    'experience:write',
    'createIdentityProvider',
    settings(),
  );
  const { id } = identityProvider;
  await done('updateIdentityProvider', { id, name: next('renamed'), enabled: true });
  await attackBy(id, 'experience:write');
  const { issuer, clientSecret } = provider;
  await done('updateIdentityProvider', { id, issuer, clientSecret });
  const email = `${next('owner')}@example.com`;
  await promote(await make.user({ primaryEmail: email, isEmailVerified: true }));
  expect(await rightsBy(federating(id, next('subject'), email))).toEqual(upTo('all'));
});

test.each(setters)('an identity provider of an administrator that %s changes', async (scope) => {
  const { issuer } = other;
  const { identityProvider } = await done('createIdentityProvider', { ...settings(), issuer });
  const { id } = identityProvider;
  await setUp(scope, 'updateIdentityProvider', { id, ...settings(), redirectUriRegistered: true });
  await attackBy(id, scope);
});

test('whoever came from an issuer is not believed once an administrator has replaced it', async () => {
  const { identityProvider } = await setUp(
    'experience:write',
    'createIdentityProvider',
    settings(),
  );
  const { id } = identityProvider;
  const email = `${next('chief')}@example.com`;
  const steps: Steps = async (send, browser) => {
    const { url } = await step(send, 'startFederation', { identityProviderId: id });
    provider.expect(email, { email, email_verified: true });
    await browser.open(await passThrough(url));
    const { issuer, clientId, clientSecret } = other;
    await done('updateIdentityProvider', { id, issuer, clientId, clientSecret });
    return step(send, 'completeProfile', { username: next('chief') });
  };
  await expect(signedIn(steps)).rejects.toThrow();
  expect(await attack.prisma.user.count({ where: { primaryEmail: email } })).toBe(0);
});

test('every later field of how people sign in is attacked', () => {
  expect(attack.missing(laterOperations.experience)).toEqual([]);
});
