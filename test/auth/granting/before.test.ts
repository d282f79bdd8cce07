import { describe, expect, test } from 'vitest';
import { openingsOf } from '../../../src/auth/granting/openings.ts';
import { managementScopes } from '../../../src/auth/scopes.ts';
import { createClientKey } from '../../support/keys/client-keys.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { createFingerprint } from '../../support/operations/fingerprint.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { type Input, overGraphQL, overRest } from '../../support/operations/operations.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { prisma } = service.app.services.database;
const directory = seedDirectory(service.app.services.database, service.clock);
const fingerprint = await createFingerprint(prisma);
const admin = await service.managementToken();
const calls = { GraphQL: overGraphQL(service, admin), REST: overRest(service, admin) };
const make = createMaker(calls.GraphQL);
const { next, done } = make;

const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const managementIndicator = 'urn:signet:management';
const management = await prisma.resource.findUniqueOrThrow({
  where: { indicator: managementIndicator },
});
const scopeId = async (name: string) =>
  (await prisma.scope.findFirstOrThrow({ where: { resourceId: management.id, name } })).id;
const all = await scopeId('all');
const m2m = { type: 'MACHINE_TO_MACHINE' };

const adminRole = (values: Input = {}) => make.role({ scopeIds: [all], ...values });
const adminOrganizationRole = (values: Input = {}) =>
  make.organizationRole({ scopeIds: [all], ...values });

const inAYear = () =>
  new Date(service.clock.now().getTime() + 365 * 24 * 60 * 60 * 1000).toISOString();

let phones = 0;
const nextPhone = () => {
  phones += 1;
  return `+49151000000${phones}`;
};

/** A user who holds everything, by a role or by one in an organization. */
async function administrator({ by = 'role', ...values }: Input = {}) {
  const userId = await make.user(values);
  if (by === 'role') await done('assignUserRoles', { userId, roleIds: [await adminRole()] });
  else {
    const organizationId = await make.organization();
    await done('addOrganizationUsers', { organizationId, userIds: [userId] });
    const organizationRoleIds = [await adminOrganizationRole()];
    await done('assignOrganizationUserRoles', { organizationId, userId, organizationRoleIds });
  }
  return userId;
}

/** An organization whose people get everything who join just in time. */
async function generousOrganization() {
  const organizationId = await make.organization();
  const organizationRoleIds = [await adminOrganizationRole()];
  await done('replaceOrganizationJitRoles', { organizationId, organizationRoleIds });
  return organizationId;
}

async function generousDomain() {
  const domain = `${next('d').replace('_', '-')}.example.com`;
  await done('addOrganizationEmailDomain', {
    organizationId: await generousOrganization(),
    domain: domain.toUpperCase(),
  });
  return domain;
}

async function generousInvitation() {
  const invitee = `${next('invitee')}@example.com`;
  const id = await make.invitation({
    invitee,
    organizationRoleIds: [await adminOrganizationRole()],
  });
  return { id, invitee };
}

/** Makes the one role that gives everything to each new user, and takes it back. */
async function withDefaultRole(work: () => Promise<void>) {
  await prisma.role.updateMany({ data: { isDefault: false } });
  const id = await adminRole({ isDefault: true });
  await work();
  await done('deleteRole', { id });
}

const powerfulApplication = async () => {
  const applicationId = await make.application();
  await done('assignApplicationRoles', { applicationId, roleIds: [await adminRole(m2m)] });
  return applicationId;
};

const exchanging = { allowTokenExchange: true, exchangeResources: [managementIndicator] };
const everyExchange = {
  ...exchanging,
  exchangeResources: ['urn:signet:account'],
  exchangeSubjectAudiences: ['urn:mine'],
  allowImpersonation: true,
  allowPersonalAccessTokens: true,
  mayRebindTokens: true,
  exchangeThirdPartySubjectTokens: true,
};
const trustedIssuer = (values: Input) => ({
  name: next('issuer'),
  issuer: 'http://127.0.0.1:9',
  jwksUri: 'http://127.0.0.1:9/jwks',
  kind: 'WORKLOAD',
  claimRules: [{ claim: 'sub', equals: 'mine' }],
  maxLifetimeSeconds: 300,
  requireJti: true,
  ...values,
});
const { publicJwk } = await createClientKey();
const jwks = { keys: [publicJwk] };
const jwksUri = 'https://keys.example.com/jwks';
const memberRoles = async () => ({
  ...(await make.member()),
  organizationRoleIds: [await adminOrganizationRole()],
});
const applicationMemberRoles = async () => ({
  ...(await make.applicationMember()),
  organizationRoleIds: [await adminOrganizationRole(m2m)],
});

const identityProvider = () => ({
  name: next('provider'),
  kind: 'SOCIAL',
  issuer: 'http://127.0.0.1:9',
  clientId: 'signet',
  clientSecret: 'a secret',
  scopes: ['openid'],
  emailDomains: [`${next('p').replace('_', '-')}.example.com`],
  enabled: true,
});

/** An organization that asks a second factor of its members, one of whom holds everything elsewhere. */
async function carefulOrganization() {
  const organizationId = await make.organization({ requiresFactor: true });
  const userId = await administrator();
  await done('addOrganizationUsers', { organizationId, userIds: [userId] });
  return { organizationId, userId };
}

/** What gives rights: the scope of its area, and calls that would give more than that. */
const giving: Readonly<Record<string, readonly [scope: string, ...(() => Promise<Input>)[]]>> = {
  createUser: [
    'users:write',
    async () => ({
      username: next('new'),
      primaryEmail: `a@${await generousDomain()}`,
      isEmailVerified: true,
    }),
    async () => ({ primaryEmail: (await generousInvitation()).invitee.toUpperCase() }),
  ],
  updateUser: [
    'users:write',
    async () => ({ id: await administrator(), primaryEmail: `${next('mine')}@example.com` }),
    async () => ({ id: await administrator({ by: 'organization' }), username: next('mine') }),
    async () => ({ id: await administrator(), primaryPhone: nextPhone() }),
    async () => ({ id: await make.user(), primaryEmail: `a@${await generousDomain()}` }),
    async () => ({
      id: await administrator({ primaryEmail: `${next('unverified')}@example.com` }),
      isEmailVerified: true,
    }),
    async () => ({ id: await administrator({ primaryPhone: nextPhone() }), isPhoneVerified: true }),
    async () => ({ id: await make.user(), isVouchedFor: true }),
  ],
  updateUserPassword: [
    'users:write',
    async () => ({ id: await administrator(), password: 'long enough' }),
    async () => ({ id: await administrator({ by: 'organization' }), password: 'long enough' }),
  ],
  // Whoever unlocks an identifier has its guesses again.
  unlockIdentifier: [
    'users:write',
    async () => {
      const value = next('locked');
      await administrator({ username: value });
      return { type: 'USERNAME', value: value.toUpperCase() };
    },
    // Guesses at whoever has no identifier count by the id.
    async () => ({ type: 'PHONE', value: await administrator({ username: null }) }),
  ],
  deleteUserFactor: [
    'users:write',
    async () => {
      const userId = await administrator();
      return { userId, factorId: (await directory.createFactor(userId)).id };
    },
  ],
  // With it goes the memory that the provider knows somebody else by the address.
  deleteUserIdentity: [
    'users:write',
    async () => {
      const userId = await administrator();
      const identityProviderId = await make.identityProvider();
      const { id } = await directory.createIdentity(userId, identityProviderId);
      return { userId, identityId: id };
    },
  ],
  updateUserSuspensionStatus: [
    'users:write',
    async () => {
      const id = await administrator();
      await done('updateUserSuspensionStatus', { id, isSuspended: true });
      return { id, isSuspended: false };
    },
  ],
  assignUserRoles: [
    'users:write',
    async () => ({ userId: await make.user(), roleIds: [await make.role(), await adminRole()] }),
  ],
  replaceUserRoles: [
    'users:write',
    async () => ({ userId: await make.user(), roleIds: [await adminRole()] }),
  ],
  createOneTimeToken: [
    'users:write',
    async () => {
      const primaryEmail = `${next('owner')}@example.com`;
      await administrator({ primaryEmail });
      return { email: primaryEmail.toUpperCase() };
    },
    async () => ({ email: `a@${await generousDomain()}` }),
    async () => ({ email: (await generousInvitation()).invitee }),
  ],
  createSubjectToken: [
    'users:write',
    async () => ({ userId: await administrator(), reason: 'To be them' }),
    async () => ({ userId: await administrator({ by: 'organization' }), reason: 'To be them' }),
  ],
  createPersonalAccessToken: [
    'users:write',
    async () => ({ userId: await administrator(), name: 'mine', expiresAt: inAYear() }),
    async () => ({
      userId: await make.user(),
      name: 'for later',
      resource: managementIndicator,
      scopes: ['all'],
      expiresAt: inAYear(),
    }),
    async () => ({
      userId: await make.user(),
      name: 'for their account',
      resource: 'urn:signet:account',
      scopes: ['account:write'],
      expiresAt: inAYear(),
    }),
  ],
  // Whoever carries the codes of people can sign in as them.
  setEmailSender: [
    'experience:write',
    async () => {
      await administrator();
      return { smtp: { host: '127.0.0.1', port: 9, from: 'mine@example.com' } };
    },
    async () => ({ http: { url: 'https://8.8.8.8/', secret: webhookSecret } }),
  ],
  updateServiceSettings: [
    'applications:write',
    async () => ({ signingKeyRotationDays: Number(next('').slice(1)) }),
  ],
  setSmsSender: [
    'experience:write',
    async () => {
      await administrator({ by: 'organization' });
      return { http: { url: 'https://8.8.8.8/', secret: webhookSecret } };
    },
  ],
  // Whoever says who people are can sign in as them.
  createIdentityProvider: [
    'experience:write',
    async () => {
      await administrator();
      return identityProvider();
    },
  ],
  updateIdentityProvider: [
    'experience:write',
    async () => {
      await administrator({ by: 'organization' });
      return { id: await make.identityProvider(), issuer: 'http://127.0.0.1:9/mine' };
    },
    async () => ({ id: await make.identityProvider({ enabled: false }), enabled: true }),
    async () => ({
      id: await make.identityProvider(),
      ...identityProvider(),
      redirectUriRegistered: true,
    }),
  ],
  // A company's people would sign in by what is left.
  deleteIdentityProvider: [
    'experience:write',
    async () => {
      await administrator();
      return { id: await make.identityProvider({ kind: 'ENTERPRISE' }) };
    },
    // With it goes the memory that the issuer knows somebody else by the address.
    async () => {
      const id = await make.identityProvider();
      await directory.createIdentity(await administrator(), id);
      return { id };
    },
    async () => {
      const id = await make.identityProvider();
      await directory.createIdentity(await administrator({ by: 'organization' }), id);
      return { id };
    },
  ],
  updateOrganization: [
    'organizations:write',
    async () => ({ id: (await carefulOrganization()).organizationId, requiresFactor: false }),
    async () => ({ id: (await carefulOrganization()).organizationId, requiresFactor: null }),
  ],
  deleteOrganization: [
    'organizations:write',
    async () => ({ id: (await carefulOrganization()).organizationId }),
  ],
  removeOrganizationUser: ['organizations:write', carefulOrganization],
  replaceOrganizationUsers: [
    'organizations:write',
    async () => ({
      organizationId: (await carefulOrganization()).organizationId,
      userIds: [await make.user()],
    }),
  ],
  // Whoever takes the second factors away, or allows more guesses, can more easily sign in as others.
  updateSignInExperience: [
    'experience:write',
    ...[
      { factors: [] },
      { factorPolicy: 'OPTIONAL' },
      { codeEnabled: true },
      { passwordEnabled: true },
      { signInIdentifiers: ['EMAIL', 'USERNAME'] },
      { passwordPolicy: { minLength: 14 } },
      { passwordPolicy: { rejectCommon: false } },
      { passwordPolicy: { rejectUserData: false } },
      { passwordPolicy: { blocklist: [] } },
      { sessionPolicy: { idleSeconds: 3601 } },
      { sessionPolicy: { maxSeconds: 7201 } },
      { codePolicy: { maxAttempts: 11 } },
      { codePolicy: { sendLimit: 11 } },
      { codePolicy: { sendWindowSeconds: 599 } },
      { codePolicy: { ttlSeconds: 600 } },
      { lockoutPolicy: { maxAttempts: 11 } },
      { lockoutPolicy: { windowSeconds: 3599 } },
      { lockoutPolicy: { lockSeconds: 899 } },
    ].map((weaker) => async () => {
      await administrator();
      const factorPolicy = 'factors' in weaker ? 'OPTIONAL' : 'REQUIRED';
      // Null restores the default, which is the longest life that a code can have.
      const codePolicy = {
        ttlSeconds: 599,
        maxAttempts: null,
        sendLimit: null,
        sendWindowSeconds: null,
      };
      await done('updateSignInExperience', {
        factors: ['TOTP'],
        factorPolicy,
        codePolicy,
        lockoutPolicy: null,
        codeEnabled: !('codeEnabled' in weaker),
        passwordEnabled: !('passwordEnabled' in weaker),
        signInIdentifiers: ['EMAIL'],
        passwordPolicy: {
          minLength: 15,
          rejectCommon: true,
          rejectUserData: true,
          blocklist: ['acme'],
        },
        sessionPolicy: { idleSeconds: 3600, maxSeconds: 7200 },
      });
      return weaker;
    }),
  ],
  createRole: [
    'roles:write',
    async () => ({ name: next('new'), scopeIds: [all], isDefault: true }),
  ],
  updateRole: ['roles:write', async () => ({ id: await adminRole(), isDefault: true })],
  addRoleScopes: ['roles:write', async () => ({ roleId: await make.role(), scopeIds: [all] })],
  createApplication: [
    'applications:write',
    async () => ({ name: next('new'), type: 'TRADITIONAL', ...exchanging }),
    async () => ({ name: next('new'), type: 'TRADITIONAL', ...everyExchange }),
    async () => ({
      name: next('new'),
      type: 'TRADITIONAL',
      exchangeResources: [managementIndicator],
    }),
    async () => ({ name: next('new'), type: 'TRADITIONAL', ...exchanging, jwks }),
    async () => ({ name: next('new'), type: 'TRADITIONAL', ...exchanging, jwksUri }),
    async () => ({
      name: next('new'),
      type: 'TRADITIONAL',
      mayActFor: [await powerfulApplication()],
    }),
  ],
  updateApplication: [
    'applications:write',
    async () => ({ id: await powerfulApplication(), jwks }),
    async () => ({ id: await powerfulApplication(), jwksUri }),
    async () => ({ id: await make.application(exchanging), jwks }),
    async () => ({ id: await make.application(exchanging), jwksUri }),
    async () => ({ id: await make.application(), ...exchanging }),
    async () => ({
      id: await make.application({ exchangeResources: [managementIndicator] }),
      allowTokenExchange: true,
    }),
    async () => ({
      id: await make.application({ ...exchanging, exchangeSubjectAudiences: ['urn:mine'] }),
      exchangeSubjectAudiences: [],
    }),
    async () => ({ id: await make.application(), ...everyExchange }),
    async () => ({ id: await make.application(exchanging), allowImpersonation: true }),
    async () => ({ id: await make.application(), mayActFor: [await powerfulApplication()] }),
    async () => ({ id: await make.application(exchanging), mayActFor: [await make.application()] }),
  ],
  // Whoever has the issuer's keys is the application, or anybody who is linked.
  createTrustedIssuer: [
    'applications:write',
    async () => trustedIssuer({ applicationId: await powerfulApplication() }),
    async () => {
      await administrator();
      return trustedIssuer({ kind: 'IDENTITY', applicationId: await make.application() });
    },
  ],
  updateTrustedIssuer: [
    'applications:write',
    async () => ({
      ...trustedIssuer({ applicationId: await powerfulApplication() }),
      id: await make.trustedIssuer(),
    }),
    async () => ({
      id: await make.trustedIssuer({ applicationId: await powerfulApplication() }),
      jwksUri: 'http://127.0.0.1:9/mine',
    }),
    async () => {
      await administrator({ by: 'organization' });
      return { id: await make.trustedIssuer(), kind: 'IDENTITY' };
    },
  ],
  createApplicationSecret: [
    'applications:write',
    async () => ({ applicationId: service.admin.id, name: next('mine') }),
    async () => ({ applicationId: await powerfulApplication(), name: 'mine' }),
    async () => ({ applicationId: await make.application(exchanging), name: 'mine' }),
  ],
  assignApplicationRoles: [
    'applications:write',
    async () => ({ applicationId: await make.application(), roleIds: [await adminRole(m2m)] }),
  ],
  replaceApplicationRoles: [
    'applications:write',
    async () => ({ applicationId: await make.application(), roleIds: [await adminRole(m2m)] }),
  ],
  assignOrganizationUserRoles: ['organizations:write', memberRoles],
  replaceOrganizationUserRoles: ['organizations:write', memberRoles],
  assignOrganizationApplicationRoles: ['organizations:write', applicationMemberRoles],
  replaceOrganizationApplicationRoles: ['organizations:write', applicationMemberRoles],
  createOrganizationInvitation: [
    'organizations:write',
    async () => ({
      organizationId: await make.organization(),
      invitee: `${next('new')}@example.com`,
      organizationRoleIds: [await adminOrganizationRole()],
    }),
  ],
  updateOrganizationInvitationStatus: [
    'organizations:write',
    async () => {
      const { id, invitee } = await generousInvitation();
      const acceptedUserId = await make.user({ primaryEmail: invitee });
      return { id, status: 'ACCEPTED', acceptedUserId };
    },
  ],
  addOrganizationIdentityProvider: [
    'organizations:write experience:read',
    async () => ({
      organizationId: await generousOrganization(),
      identityProviderId: await make.identityProvider(),
    }),
  ],
  addOrganizationEmailDomain: [
    'organizations:write',
    async () => ({ organizationId: await generousOrganization(), domain: 'mine.example.com' }),
  ],
  replaceOrganizationJitRoles: [
    'organizations:write',
    async () => ({
      organizationId: await make.organization(),
      organizationRoleIds: [await adminOrganizationRole()],
    }),
  ],
  createOrganizationRole: [
    'organizations:write',
    async () => ({ name: next('new'), scopeIds: [all] }),
  ],
  addOrganizationRoleResourceScopes: [
    'organizations:write',
    async () => ({ organizationRoleId: await make.organizationRole(), scopeIds: [all] }),
  ],
};

/** Operations whose attacks are tests of their own below, by the fields that these take. */
const givingOtherwise: Readonly<Record<string, readonly string[]>> = {
  updateSignInExperience: ['signUpEnabled'],
  importUsers: ['users'],
  createUser: ['username', 'primaryPhone', 'isPhoneVerified', 'password'],
};

const attacked = new Map<string, Set<string>>(
  Object.entries(givingOtherwise).map(([operation, fields]) => [operation, new Set(fields)]),
);

describe.each(['GraphQL', 'REST'] as const)('over %s', (via) => {
  const call = calls[via];

  test.each(Object.entries(giving))(
    '%s gives only rights that its caller holds',
    async (operation, [scope, ...given]) => {
      const narrow = await service.managementToken(scope);
      for (const prepare of given) {
        const input = await prepare();
        const fields = attacked.get(operation) ?? new Set();
        attacked.set(operation, fields.union(new Set(Object.keys(input))));
        const before = await fingerprint();
        expect(await call(operation, input, narrow)).toMatchObject({
          code: 'NOT_ALLOWED',
          status: via === 'REST' ? 403 : 200,
        });
        expect(await fingerprint()).toEqual(before);
        expect(await call(operation, input)).toMatchObject({ code: 'OK' });
      }
    },
  );
});

test('every field that can open something at once is attacked above', () => {
  const missing = Object.entries(openingsOf).flatMap(([operation, row]) =>
    Object.entries(row)
      .filter(([, opening]) => [opening ?? []].flat().some((one) => one !== 'LATER'))
      .filter(([field]) => !attacked.get(operation)?.has(field))
      .map(([field]) => `${operation}.${field}`),
  );
  expect(missing).toEqual([]);
});

const scopes = [...managementScopes.keys()].filter((scope) => scope !== 'all');
test.each(Object.entries(giving))(
  '%s gives nothing to a caller with any one scope',
  async (operation, [, prepare]) => {
    const input = (await prepare?.()) ?? {};
    const before = await fingerprint();
    for (const scope of scopes) {
      const { code } = await calls.GraphQL(operation, input, await service.managementToken(scope));
      expect([scope, code]).toEqual([scope, expect.stringMatching(/^(FORBIDDEN|NOT_ALLOWED)$/)]);
    }
    expect(await fingerprint()).toEqual(before);
  },
);

describe('a caller', () => {
  test('gives what its token allows; write includes read', async () => {
    const token = await service.managementToken('roles:write users:write');
    const scopeIds = [await scopeId('users:read'), await scopeId('roles:write')];
    const role = await calls.GraphQL('createRole', { name: next('held'), scopeIds }, token);
    expect(role).toMatchObject({ code: 'OK' });
    const input = { userId: await make.user(), roleIds: [role.payload.role.id] };
    expect(await calls.GraphQL('assignUserRoles', input, token)).toMatchObject({ code: 'OK' });
    const narrower = await service.managementToken('users:write');
    expect(await calls.GraphQL('assignUserRoles', input, narrower)).toMatchObject({
      code: 'NOT_ALLOWED',
    });
  });

  test('gives scopes of other resources, whatever their names', async () => {
    const token = await service.managementToken('roles:write');
    const scopeIds = [await make.scope({ name: 'all' })];
    const input = { name: next('foreign'), scopeIds };
    expect(await calls.GraphQL('createRole', input, token)).toMatchObject({ code: 'OK' });
  });

  test('changes only harmless fields of an administrator', async () => {
    const token = await service.managementToken('users:write');
    const username = next('administrator');
    const id = await administrator({ username });
    for (const [operation, input] of [
      ['updateUser', { id, name: 'Renamed', username }],
      ['updateUserCustomData', { id, customData: { team: 'one' } }],
      ['updateUserSuspensionStatus', { id, isSuspended: true }],
    ] as const) {
      expect(await calls.GraphQL(operation, input, token)).toMatchObject({ code: 'OK' });
    }
  });

  test('changes how people sign in, as long as guesses become no easier', async () => {
    await administrator();
    const token = await service.managementToken('experience:write');
    for (const input of [
      { factors: ['TOTP', 'PASSKEY'], factorPolicy: 'REQUIRED' },
      { codePolicy: { maxAttempts: 5, sendLimit: 5 }, lockoutPolicy: { maxAttempts: 5 } },
      { branding: { productName: 'Acme' }, signUpEnabled: false, codeEnabled: false },
    ]) {
      expect(await calls.GraphQL('updateSignInExperience', input, token)).toMatchObject({
        code: 'OK',
      });
    }
    await done('updateSignInExperience', { factorPolicy: null, factors: null, codeEnabled: null });
  });

  test('lets nobody in by an identity provider of a company with more rights', async () => {
    const token = await service.managementToken('organizations:write experience:read');
    const company = await make.identityProvider({ kind: 'ENTERPRISE' });
    const add = async () => ({
      organizationId: await make.organization(),
      identityProviderId: company,
    });
    const [signUp, operation] = ['updateSignInExperience', 'addOrganizationIdentityProvider'];
    await withDefaultRole(async () => {
      await done(signUp, { signUpEnabled: false });
      expect(await calls.GraphQL(operation, await add(), token)).toMatchObject({
        code: 'NOT_ALLOWED',
      });
      const social = { ...(await add()), identityProviderId: await make.identityProvider() };
      expect(await calls.GraphQL(operation, social, token)).toMatchObject({ code: 'OK' });
      expect(await calls.GraphQL(operation, await add())).toMatchObject({ code: 'OK' });
      // Everybody may get in then.
      await done(signUp, { signUpEnabled: true });
      expect(await calls.GraphQL(operation, await add(), token)).toMatchObject({ code: 'OK' });
    });
    await done('deleteIdentityProvider', { id: company });
  });

  test('creates and imports no users with more rights', async () => {
    const token = await service.managementToken('users:write');
    const experience = await service.managementToken('experience:write');
    await done('updateSignInExperience', { signUpEnabled: false });
    await withDefaultRole(async () => {
      const before = await fingerprint();
      expect(
        await calls.GraphQL('updateSignInExperience', { signUpEnabled: true }, experience),
      ).toMatchObject({ code: 'NOT_ALLOWED' });
      for (const [operation, input] of [
        ['createUser', { username: next('new') }],
        ['importUsers', { users: [{ username: next('new') }] }],
      ] as const) {
        expect(await calls.GraphQL(operation, input, token)).toMatchObject({ code: 'NOT_ALLOWED' });
      }

      expect(await fingerprint()).toEqual(before);
    });
    const users = [
      { username: next('kept') },
      { primaryEmail: `a@${await generousDomain()}` },
      { primaryEmail: (await generousInvitation()).invitee },
      { username: next('raised'), roleIds: [await make.role(), await adminRole()] },
    ];
    const response = await fetch(`${service.url}/api/users/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ users }),
    });
    expect(await response.json()).toMatchObject({
      users: [{ username: users[0]?.username }],
      failures: [
        { index: 1, code: 'NOT_ALLOWED' },
        { index: 2, code: 'NOT_ALLOWED' },
        { index: 3, code: 'NOT_ALLOWED' },
      ],
    });
  });

  test('needs an administrator’s rights to set their password', async () => {
    const user = await directory.createUser();
    await directory.allowUser(user, management, ['roles:read']);
    const input = { id: user.id, password: 'long enough' };
    const narrow = await service.managementToken('users:write');
    const wide = await service.managementToken('users:write roles:read');
    const { code } = await calls.GraphQL('updateUserPassword', input, narrow);
    expect(code).toBe('NOT_ALLOWED');
    expect(await calls.GraphQL('updateUserPassword', input, wide)).toMatchObject({ code: 'OK' });
  });
});
