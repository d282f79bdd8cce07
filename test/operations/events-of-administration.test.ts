import { describe, expect, test } from 'vitest';
import { webhookSecret } from '../support/operations/cases/case.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { createMaker } from '../support/operations/maker.ts';
import { type OperationCase, operationCases } from '../support/operations/operation-cases.ts';
import { type Input, overGraphQL } from '../support/operations/operations.ts';
import { logReader } from '../support/operations/told.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { database } = service.app.services;
const admin = await service.managementToken();
const call = overGraphQL(service, admin);
const make = createMaker(call);
const directory = seedDirectory(database, service.clock);
const cases = operationCases(make, directory);
const { endOfLog, eventsSince } = logReader(service, admin);

/** The events of a call, each as its name and data; the caller is the actor of all. */
async function toldBy(operation: string, input: Input) {
  const before = await endOfLog();
  const outcome = await call(operation, input);
  const told = await eventsSince(before);
  const actor = { type: 'APPLICATION', id: service.admin.id };
  expect(told.map((event) => event.actor)).toEqual(told.map(() => actor));
  expect(JSON.stringify(told)).not.toMatch(/secret"|whsec_/);
  return { outcome, told: told.map(({ name, data }) => [name, data]) };
}

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const text = expect.any(String);
const stamps = { createdAt: instant, updatedAt: instant };
const change = (field: string, from: unknown, to: unknown) => ({
  changes: { [field]: { from, to } },
});

/** Records in the field names of the GraphQL schema, and nothing else. */
const records = {
  resource: (values: object) => ({
    id: expect.stringMatching(/^res_/),
    name: text,
    indicator: expect.stringMatching(/^https:/),
    accessTokenTtlSeconds: 3600,
    signingAlg: null,
    ...stamps,
    ...values,
  }),
  application: (values: object) => ({
    id: expect.stringMatching(/^app_/),
    name: text,
    description: null,
    type: 'MACHINE_TO_MACHINE',
    allowTokenExchange: false,
    exchangeSubjectAudiences: [],
    exchangeResources: [],
    exchangeThirdPartySubjectTokens: false,
    redirectUris: [],
    postLogoutRedirectUris: [],
    corsAllowedOrigins: [],
    allowHeadlessSignIn: false,
    allowDeviceGrant: false,
    isThirdParty: false,
    idTokenSigningAlg: null,
    allowImpersonation: false,
    allowPersonalAccessTokens: false,
    jwks: null,
    jwksUri: null,
    allowSecrets: true,
    requireDpop: false,
    mayRebindTokens: false,
    mayActFor: [],
    requirePushedAuthorizationRequests: false,
    requirePkce: true,
    securityProfile: 'NONE',
    refreshTokenReuseSeconds: 30,
    origin: 'ADMINISTRATION',
    metadataUrl: null,
    ...stamps,
    ...values,
  }),
  trustedIssuer: (values: object) => ({
    id: expect.stringMatching(/^issuer_/),
    name: text,
    issuer: 'http://127.0.0.1:9',
    jwksUri: 'http://127.0.0.1:9/jwks',
    kind: 'WORKLOAD',
    claimRules: [{ claim: 'sub', equals: 'repo:acme/shop' }],
    applicationId: expect.stringMatching(/^app_/),
    maxLifetimeSeconds: 300,
    requireJti: true,
    ...stamps,
    ...values,
  }),
  crossAppConnection: (values: object) => ({
    id: expect.stringMatching(/^crossapp_/),
    applicationId: expect.stringMatching(/^app_/),
    issuer: expect.stringMatching(/^https:/),
    clientId: 'wiki',
    scopes: [],
    ...stamps,
    ...values,
  }),
  invitation: (values: object) => ({
    id: expect.stringMatching(/^inv_/),
    organizationId: expect.stringMatching(/^org_/),
    invitee: expect.stringMatching(/@example\.com$/),
    status: 'PENDING',
    acceptedUserId: null,
    expiresAt: instant,
    organizationRoleIds: [],
    ...stamps,
    ...values,
  }),
  webhook: (values: object) => ({
    id: expect.stringMatching(/^hook_/),
    name: text,
    url: expect.stringMatching(/^https?:/),
    events: [],
    query: null,
    enabled: false,
    disabledReason: null,
    maxInFlight: 10,
    ...stamps,
    ...values,
  }),
  identityProvider: (values: object) => ({
    id: expect.stringMatching(/^idp_/),
    name: text,
    kind: 'SOCIAL',
    issuer: 'http://127.0.0.1:9',
    clientId: 'signet',
    hasClientSecret: false,
    scopes: ['openid', 'profile', 'email'],
    enabled: true,
    emailDomains: [],
    redirectUriState: 'OWN',
    ...stamps,
    ...values,
  }),
};
const settings = (
  organizationId: unknown,
  ...changed: Parameters<typeof change>
): [string, object] => ['Organization.Settings.Updated', { organizationId, ...change(...changed) }];
const mailServer = {
  kind: 'SMTP',
  host: '8.8.8.8',
  port: 9,
  secure: false,
  username: null,
  from: 'Acme <a@example.com>',
  hasPassword: false,
};
const secrets = (applicationId: unknown, lists: object): [string, object] => [
  'Application.Secrets.Updated',
  { applicationId, addedSecretIds: [], removedSecretIds: [], ...lists },
];

interface Expectation {
  /** In place of the case's own input; `about` is what the expectation needs beside. */
  readonly given?: () => Promise<Input>;
  /** The name and the data of each event, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation's payload has a shape of its own.
  readonly told: (input: Input, payload: any) => readonly (readonly [string, object])[];
  /** The second call of the same input: it changes nothing, or is refused. */
  readonly again: 'changes nothing' | 'is refused' | 'is another change';
}

const expectations: Readonly<Record<string, Expectation>> = {
  createResource: {
    told: ({ name, indicator }, { resource: { id } }) => [
      ['Resource.Created', records.resource({ id, name, indicator })],
    ],
    again: 'is refused',
  },
  updateResource: {
    told: ({ id, name }) => [
      [
        'Resource.Data.Updated',
        { ...records.resource({ id, name }), ...change('name', text, name) },
      ],
    ],
    again: 'changes nothing',
  },
  deleteResource: {
    async given() {
      const id = await make.resource();
      return { id, about: await make.scope({ resourceId: id }) };
    },
    told: ({ id, about }) => [
      ['Scope.Deleted', expect.objectContaining({ id: about })],
      ['Resource.Deleted', records.resource({ id })],
    ],
    again: 'is refused',
  },

  'updateRole of a default role that somebody with fewer rights made': {
    async given() {
      const id = await make.role({ isDefault: true });
      await database.prisma.role.update({ where: { id }, data: { setterScopes: [] } });
      return { id, isDefault: true };
    },
    told: ({ id }) => [
      [
        'Role.Data.Updated',
        expect.objectContaining({ id, ...change('setterScopes', [], ['all']) }),
      ],
    ],
    again: 'changes nothing',
  },
  'assignUserRoles of a role that somebody with fewer rights gave': {
    async given() {
      const [userId, roleId] = [await make.user(), await make.role()];
      await make.done('assignUserRoles', { userId, roleIds: [roleId] });
      await database.prisma.userRole.updateMany({ where: { userId }, data: { setterScopes: [] } });
      return { userId, roleIds: [roleId] };
    },
    told: ({ userId, roleIds }) => [
      ['User.Roles.Updated', { userId, addedRoleIds: roleIds, removedRoleIds: [] }],
    ],
    again: 'changes nothing',
  },

  createApplication: {
    told: (_input, { application: { id } }) => [
      ['Application.Created', records.application({ id, name: 'New', type: 'TRADITIONAL' })],
    ],
    again: 'is another change',
  },
  'createApplication with a new algorithm of id tokens': {
    given: async () => ({ name: 'New', type: 'SPA', idTokenSigningAlg: 'RS256' }),
    told: (_input, { application: { id } }) => [
      ['SigningKey.Rotated', { signingKeyId: expect.stringMatching(/^key_/) }],
      [
        'Application.Created',
        records.application({ id, name: 'New', type: 'SPA', idTokenSigningAlg: 'RS256' }),
      ],
    ],
    again: 'is another change',
  },
  updateApplication: {
    told: ({ id, name }) => [
      [
        'Application.Data.Updated',
        { ...records.application({ id, name }), ...change('name', text, name) },
      ],
    ],
    again: 'changes nothing',
  },
  'updateApplication of an application that nobody with all rights set up': {
    async given() {
      const id = await make.application();
      await database.prisma.application.update({ where: { id }, data: { setterScopes: [] } });
      return { id };
    },
    told: ({ id }) => [
      [
        'Application.Data.Updated',
        { ...records.application({ id }), ...change('setterScopes', [], ['all']) },
      ],
    ],
    again: 'changes nothing',
  },
  deleteApplication: {
    given: async () => ({ id: await make.application({ type: 'SPA' }) }),
    told: ({ id }) => [['Application.Deleted', records.application({ id, type: 'SPA' })]],
    again: 'is refused',
  },
  createApplicationSecret: {
    told: ({ applicationId }, { applicationSecret: { id } }) => [
      secrets(applicationId, { addedSecretIds: [id] }),
    ],
    again: 'is refused',
  },
  deleteApplicationSecret: {
    told: ({ id }) => [secrets(expect.stringMatching(/^app_/), { removedSecretIds: [id] })],
    again: 'is refused',
  },

  createOrganizationInvitation: {
    told: (
      { organizationId, invitee, organizationRoleIds },
      { organizationInvitation: { id } },
    ) => [
      [
        'OrganizationInvitation.Created',
        records.invitation({ id, organizationId, invitee, organizationRoleIds }),
      ],
    ],
    again: 'is refused',
  },
  updateOrganizationInvitationStatus: {
    told: ({ id, acceptedUserId }) => [
      [
        'Organization.Membership.Updated',
        expect.objectContaining({ addedUserIds: [acceptedUserId] }),
      ],
      [
        'OrganizationInvitation.Data.Updated',
        records.invitation({
          id,
          status: 'ACCEPTED',
          acceptedUserId,
          changes: {
            status: { from: 'PENDING', to: 'ACCEPTED' },
            acceptedUserId: { from: null, to: acceptedUserId },
          },
        }),
      ],
    ],
    again: 'is refused',
  },
  'updateOrganizationInvitationStatus to REVOKED': {
    given: async () => ({ id: await make.invitation(), status: 'REVOKED' }),
    told: ({ id }) => [
      [
        'OrganizationInvitation.Data.Updated',
        records.invitation({ id, status: 'REVOKED', ...change('status', 'PENDING', 'REVOKED') }),
      ],
    ],
    again: 'is refused',
  },
  deleteOrganizationInvitation: {
    told: ({ id }) => [['OrganizationInvitation.Deleted', records.invitation({ id })]],
    again: 'is refused',
  },

  addOrganizationEmailDomain: {
    told: ({ organizationId, domain }) => [settings(organizationId, 'emailDomains', [], [domain])],
    again: 'is refused',
  },
  removeOrganizationEmailDomain: {
    told: ({ organizationId, domain }) => [settings(organizationId, 'emailDomains', [domain], [])],
    again: 'is refused',
  },
  replaceOrganizationJitRoles: {
    told: ({ organizationId, organizationRoleIds }) => [
      settings(organizationId, 'jitRoleIds', [], organizationRoleIds),
    ],
    again: 'changes nothing',
  },
  'replaceOrganizationJitRoles that nobody with all rights set': {
    async given() {
      const input = (await cases['replaceOrganizationJitRoles']?.given()) as Input;
      await make.done('replaceOrganizationJitRoles', input);
      const { organizationId } = input as { organizationId: string };
      await database.prisma.organizationJitRole.updateMany({
        where: { organizationId },
        data: { setterScopes: [] },
      });
      return input;
    },
    told: ({ organizationId }) => [settings(organizationId, 'jitRoleSetterScopes', [], ['all'])],
    again: 'changes nothing',
  },
  addOrganizationIdentityProvider: {
    told: ({ organizationId, identityProviderId }) => [
      settings(organizationId, 'identityProviderIds', [], [identityProviderId]),
    ],
    again: 'is refused',
  },
  removeOrganizationIdentityProvider: {
    told: ({ organizationId, identityProviderId }) => [
      settings(organizationId, 'identityProviderIds', [identityProviderId], []),
    ],
    again: 'is refused',
  },

  createWebhook: {
    given: async () => ({
      name: 'New',
      url: 'https://127.0.0.1/hook?token=secret',
      enabled: false,
      events: ['USER_CREATED'],
      headers: { 'x-key': 'secret' },
    }),
    told: (_input, { webhook: { id } }) => [
      [
        'Webhook.Created',
        records.webhook({
          id,
          name: 'New',
          url: 'https://127.0.0.1/hook',
          events: ['USER_CREATED'],
        }),
      ],
    ],
    again: 'is another change',
  },
  updateWebhook: {
    told: ({ id, name }) => [
      ['Webhook.Data.Updated', { ...records.webhook({ id, name }), ...change('name', text, name) }],
    ],
    again: 'changes nothing',
  },
  'updateWebhook of what no event shows': {
    given: async () => ({
      id: await make.webhook(),
      url: 'http://127.0.0.1:9/?token=secret',
      headers: { 'x-key': 'secret' },
    }),
    told: ({ id }) => [
      [
        'Webhook.Data.Updated',
        records.webhook({
          id,
          changes: {
            url: { from: 'http://127.0.0.1:9/', to: 'http://127.0.0.1:9/' },
            headers: { from: [], to: ['x-key'] },
          },
        }),
      ],
    ],
    again: 'changes nothing',
  },
  deleteWebhook: {
    told: ({ id }) => [['Webhook.Deleted', records.webhook({ id })]],
    again: 'is refused',
  },
  rotateWebhookSecret: {
    told: ({ id }) => [['Webhook.Secret.Rotated', { webhookId: id }]],
    again: 'is another change',
  },

  createIdentityProvider: {
    told: ({ name, emailDomains }, { identityProvider: { id } }) => [
      [
        'IdentityProvider.Created',
        records.identityProvider({
          id,
          name,
          kind: 'ENTERPRISE',
          hasClientSecret: true,
          scopes: ['openid', 'email'],
          emailDomains,
        }),
      ],
    ],
    again: 'is refused',
  },
  updateIdentityProvider: {
    told: ({ id, name, emailDomains }) => [
      [
        'IdentityProvider.Data.Updated',
        records.identityProvider({
          id,
          name,
          emailDomains,
          changes: {
            name: { from: text, to: name },
            emailDomains: { from: [], to: emailDomains },
          },
        }),
      ],
    ],
    again: 'changes nothing',
  },
  'updateIdentityProvider with another secret': {
    given: async () => ({
      id: await make.identityProvider({ clientSecret: 'a secret' }),
      clientSecret: 'another',
    }),
    told: ({ id }) => [
      [
        'IdentityProvider.Data.Updated',
        {
          ...records.identityProvider({ id, hasClientSecret: true }),
          ...change('hasClientSecret', true, true),
        },
      ],
    ],
    again: 'is another change',
  },
  deleteIdentityProvider: {
    told: ({ id }) => [['IdentityProvider.Deleted', records.identityProvider({ id })]],
    again: 'is refused',
  },
  'deleteIdentityProvider with people': {
    async given() {
      const id = await make.identityProvider();
      const userId = await make.user();
      await directory.createIdentity(userId, id);
      return { id };
    },
    told: ({ id }) => [['IdentityProvider.Deleted', records.identityProvider({ id })]],
    again: 'is refused',
  },

  createTrustedIssuer: {
    told: ({ name, applicationId }, { trustedIssuer: { id } }) => [
      [
        'TrustedIssuer.Created',
        records.trustedIssuer({
          id,
          name,
          applicationId,
          maxLifetimeSeconds: 600,
          requireJti: false,
        }),
      ],
    ],
    again: 'is another change',
  },
  updateTrustedIssuer: {
    told: ({ id, name, applicationId }) => [
      [
        'TrustedIssuer.Data.Updated',
        records.trustedIssuer({
          id,
          name,
          applicationId,
          changes: {
            name: { from: text, to: name },
            applicationId: { from: expect.stringMatching(/^app_/), to: applicationId },
          },
        }),
      ],
    ],
    again: 'changes nothing',
  },
  deleteTrustedIssuer: {
    told: ({ id }) => [['TrustedIssuer.Deleted', records.trustedIssuer({ id })]],
    again: 'is refused',
  },
  createCrossAppConnection: {
    told: ({ issuer, applicationId }, { crossAppConnection: { id } }) => [
      [
        'CrossAppConnection.Created',
        records.crossAppConnection({ id, issuer, applicationId, scopes: ['read'] }),
      ],
    ],
    again: 'is refused',
  },
  updateCrossAppConnection: {
    told: ({ id, clientId }) => [
      [
        'CrossAppConnection.Data.Updated',
        {
          ...records.crossAppConnection({ id, clientId }),
          ...change('clientId', 'wiki', clientId),
        },
      ],
    ],
    again: 'changes nothing',
  },
  deleteCrossAppConnection: {
    told: ({ id }) => [['CrossAppConnection.Deleted', records.crossAppConnection({ id })]],
    again: 'is refused',
  },
  'deleteApplication with trust': {
    async given() {
      const id = await make.application();
      await make.trustedIssuer({ applicationId: id });
      await make.crossAppConnection({ applicationId: id });
      return { id };
    },
    told: ({ id }) => [
      secrets(id, { removedSecretIds: [expect.stringMatching(/^secret_/)] }),
      ['TrustedIssuer.Deleted', records.trustedIssuer({ applicationId: id })],
      ['CrossAppConnection.Deleted', records.crossAppConnection({ applicationId: id })],
      ['Application.Deleted', records.application({ id, type: 'MACHINE_TO_MACHINE' })],
    ],
    again: 'is refused',
  },

  createRegistrationToken: {
    told: ({ expiresAt, maxUses }, { registrationToken: { id } }) => [
      ['RegistrationToken.Created', { registrationTokenId: id, expiresAt, maxUses }],
    ],
    again: 'is another change',
  },
  deleteRegistrationToken: {
    told: ({ id }) => [['RegistrationToken.Deleted', { registrationTokenId: id }]],
    again: 'is refused',
  },
  rotateSigningKey: {
    // `createApplication` above asked for a key of another algorithm, which is renewed too.
    told: (_input, { signingKey }) => [
      ['SigningKey.Rotated', { signingKeyId: signingKey.id }],
      ['SigningKey.Rotated', { signingKeyId: expect.stringMatching(/^key_/) }],
    ],
    again: 'is another change',
  },
  deleteSigningKey: {
    told: ({ id }) => [['SigningKey.Deleted', { signingKeyId: id }]],
    again: 'is refused',
  },

  updateSignInExperience: {
    told: ({ branding }) => [
      [
        'SignInExperience.Updated',
        change(
          'branding',
          expect.objectContaining({ productName: 'Signet' }),
          expect.objectContaining(branding as object),
        ),
      ],
    ],
    again: 'changes nothing',
  },
  setEmailSender: {
    told: () => [['MessageSender.Updated', change('email', null, mailServer)]],
    again: 'changes nothing',
  },
  'setEmailSender with a password': {
    given: async () => ({
      smtp: {
        host: '8.8.8.8',
        port: 9,
        from: 'Acme <a@example.com>',
        username: 'acme',
        password: 'a secret',
      },
    }),
    told: () => [
      [
        'MessageSender.Updated',
        change('email', mailServer, { ...mailServer, username: 'acme', hasPassword: true }),
      ],
    ],
    again: 'is another change',
  },
  setSmsSender: {
    given: async () => ({
      http: { url: 'https://127.0.0.1/sms?token=secret', secret: webhookSecret },
    }),
    told: () => [
      [
        'MessageSender.Updated',
        change('sms', null, { kind: 'HTTP', url: 'https://127.0.0.1/sms' }),
      ],
    ],
    again: 'is another change',
  },
  removeSmsSender: {
    told: () => [
      [
        'MessageSender.Updated',
        change('sms', { kind: 'HTTP', url: 'https://127.0.0.1/sms' }, null),
      ],
    ],
    again: 'changes nothing',
  },
};

describe('a change is told once', () => {
  test.each(Object.entries(expectations))('%s', async (title, { given, told, again }) => {
    const operation = title.split(' ')[0] as string;
    const prepare = given ?? (cases[operation] as OperationCase).given;
    const { about: known, ...input } = await prepare();

    const first = await toldBy(operation, input);
    expect(first.outcome).toMatchObject({ code: 'OK' });
    expect(first.told).toEqual(told({ ...input, about: known }, first.outcome.payload));

    if (again === 'is another change') return;
    const second = await toldBy(operation, input);
    expect(second.outcome.code === 'OK' ? 'changes nothing' : 'is refused').toBe(again);
    expect(second.told).toEqual([]);
  });
});

test('an invitation that has expired is told by the service itself, once its status is written', async () => {
  const organizationId = await make.organization();
  const invitee = 'late@example.com';
  const end = new Date(service.clock.now().getTime() + 60_000);
  const id = await make.invitation({ organizationId, invitee, expiresAt: end.toISOString() });
  service.clock.advance(60_000);
  const before = await endOfLog();
  await make.done('createOrganizationInvitation', { organizationId, invitee });
  const told = await eventsSince(before);
  expect(told.map(({ name, actor }) => [name, actor?.type])).toEqual([
    ['OrganizationInvitation.Data.Updated', 'SYSTEM'],
    ['OrganizationInvitation.Created', 'APPLICATION'],
  ]);
  expect(told[0]?.data).toEqual(
    records.invitation({
      id,
      status: 'EXPIRED',
      invitee,
      organizationId,
      ...change('status', 'PENDING', 'EXPIRED'),
    }),
  );
});
