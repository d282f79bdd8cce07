import type { seedDirectory } from './directory.ts';
import type { Call, Input } from './operations.ts';

/** A management operation, with the data that its tests need. */
export interface OperationCase {
  /** The required scope. */
  readonly scope: string;
  /** Other required scopes. */
  readonly scopesBeside?: readonly string[];
  /** Creates the records that the operation needs, and returns a valid input. */
  readonly given: () => Promise<Input>;
  /** Replacements of one field each, with an invalid value. */
  readonly invalid?: readonly Input[];
  /** Creates a conflicting record, and returns the input's replacement and the reported field. */
  readonly duplicate?: (
    input: Input,
  ) => Promise<{ readonly replace: Input; readonly path: string }>;
  /** Replacements that name something missing, other than by id. */
  readonly missing?: Input;
}

const webhookSecret = `whsec_${Buffer.alloc(32).toString('base64')}`;

const tooMany = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}_${String(i).padStart(26, '0')}`);

/** Creates records through the management API. */
export function createMaker(call: Call) {
  let count = 0;
  function next(kind: string): string {
    count += 1;
    return `${kind}_${count}`;
  }

  // biome-ignore lint/suspicious/noExplicitAny: each operation's payload has a shape of its own.
  async function done(operation: string, input: Input): Promise<any> {
    const outcome = await call(operation, input);
    if (outcome.code !== 'OK') throw new Error(`${operation}: ${JSON.stringify(outcome)}`);
    return outcome.payload;
  }
  const make = async (operation: string, field: string, input: Input): Promise<string> =>
    (await done(operation, input))[field].id;

  const user = (values: Input = {}) =>
    make('createUser', 'user', { username: next('user'), ...values });
  const role = (values: Input = {}) =>
    make('createRole', 'role', { name: next('role'), ...values });
  const resource = () =>
    make('createResource', 'resource', {
      name: next('resource'),
      indicator: `https://${next('api').replace('_', '-')}.example.com`,
    });
  const scope = async (values: Input = {}) =>
    make('createScope', 'scope', { resourceId: await resource(), name: next('scope'), ...values });
  const application = (values: Input = {}) =>
    make('createApplication', 'application', {
      name: next('application'),
      type: 'MACHINE_TO_MACHINE',
      ...values,
    });
  const organization = (values: Input = {}) =>
    make('createOrganization', 'organization', { name: next('organization'), ...values });
  const organizationRole = (values: Input = {}) =>
    make('createOrganizationRole', 'organizationRole', { name: next('org-role'), ...values });
  const organizationScope = (values: Input = {}) =>
    make('createOrganizationScope', 'organizationScope', { name: next('org-scope'), ...values });
  const webhook = () =>
    make('createWebhook', 'webhook', {
      name: next('webhook'),
      url: 'http://127.0.0.1:9/',
      enabled: false,
    });

  async function member() {
    const [organizationId, userId] = [await organization(), await user()];
    await done('addOrganizationUsers', { organizationId, userIds: [userId] });
    return { organizationId, userId };
  }
  async function applicationMember() {
    const [organizationId, applicationId] = [await organization(), await application()];
    await done('addOrganizationApplications', { organizationId, applicationIds: [applicationId] });
    return { organizationId, applicationId };
  }
  const invitation = async (values: Input = {}) =>
    make('createOrganizationInvitation', 'organizationInvitation', {
      organizationId: await organization(),
      invitee: `${next('invitee')}@example.com`,
      ...values,
    });

  return {
    next,
    done,
    user,
    role,
    resource,
    scope,
    application,
    organization,
    organizationRole,
    organizationScope,
    webhook,
    member,
    applicationMember,
    invitation,
  };
}

/** Creates records through the management API. */
export type Maker = ReturnType<typeof createMaker>;

/** A case for each mutation of the schema. */
export function operationCases(
  make: Maker,
  { createSession }: Pick<ReturnType<typeof seedDirectory>, 'createSession'>,
): Readonly<Record<string, OperationCase>> {
  const { next, done } = make;
  const m2m = { type: 'MACHINE_TO_MACHINE' };
  const tooLong = 'x'.repeat(129);
  const tooLarge = { text: 'x'.repeat(70_000) };

  const userRoles: OperationCase = {
    scope: 'users:write',
    given: async () => ({ userId: await make.user(), roleIds: [await make.role()] }),
    invalid: [{ roleIds: tooMany('role', 101) }],
  };
  const applicationRoles: OperationCase = {
    scope: 'applications:write',
    given: async () => ({
      applicationId: await make.application(),
      roleIds: [await make.role(m2m)],
    }),
    invalid: [{ roleIds: tooMany('role', 101) }],
  };
  const members: OperationCase = {
    scope: 'organizations:write',
    given: async () => ({
      organizationId: await make.organization(),
      userIds: [await make.user(), await make.user()],
    }),
    invalid: [{ userIds: tooMany('user', 5001) }],
  };
  const applicationMembers: OperationCase = {
    scope: 'organizations:write',
    given: async () => ({
      organizationId: await make.organization(),
      applicationIds: [await make.application()],
    }),
    invalid: [{ applicationIds: tooMany('app', 5001) }],
  };
  const memberRoles: OperationCase = {
    scope: 'organizations:write',
    given: async () => ({
      ...(await make.member()),
      organizationRoleIds: [await make.organizationRole()],
    }),
    invalid: [{ organizationRoleIds: tooMany('orgrole', 101) }],
  };
  const applicationMemberRoles: OperationCase = {
    scope: 'organizations:write',
    given: async () => ({
      ...(await make.applicationMember()),
      organizationRoleIds: [await make.organizationRole(m2m)],
    }),
    invalid: [{ organizationRoleIds: tooMany('orgrole', 101) }],
  };
  const organizationRoleScopes: OperationCase = {
    scope: 'organizations:write',
    given: async () => ({
      organizationRoleId: await make.organizationRole(),
      organizationScopeIds: [await make.organizationScope()],
    }),
    invalid: [{ organizationScopeIds: tooMany('orgscope', 1001) }],
  };
  const byId = (scope: string, create: () => Promise<string>): OperationCase => ({
    scope,
    given: async () => ({ id: await create() }),
  });
  const takenName = (create: (values: Input) => Promise<string>) => async () => {
    const name = next('taken');
    await create({ name });
    return { replace: { name }, path: 'name' };
  };

  return {
    createUser: {
      scope: 'users:write',
      given: async () => ({ username: next('new'), name: 'New', password: 'long enough' }),
      invalid: [
        { username: '1 2' },
        { primaryEmail: 'nowhere' },
        { primaryPhone: '12' },
        { name: tooLong },
        { avatar: 'ftp://example.com' },
        { password: 'short' },
        { customData: tooLarge },
        { profile: tooLarge },
      ],
      async duplicate() {
        const username = next('taken');
        await make.user({ username });
        return { replace: { username: username.toUpperCase() }, path: 'username' };
      },
    },
    updateUser: {
      scope: 'users:write',
      given: async () => ({ id: await make.user(), name: 'Changed' }),
      invalid: [{ avatar: 'nothing' }, { primaryPhone: '+49' }, { username: '' }],
      async duplicate() {
        const primaryEmail = `${next('taken')}@example.com`;
        await make.user({ primaryEmail });
        return { replace: { primaryEmail: primaryEmail.toUpperCase() }, path: 'primaryEmail' };
      },
    },
    updateUserCustomData: {
      scope: 'users:write',
      given: async () => ({ id: await make.user(), customData: { plan: 'free' } }),
      invalid: [{ customData: tooLarge }],
    },
    updateUserProfile: {
      scope: 'users:write',
      given: async () => ({ id: await make.user(), profile: { locale: 'de' } }),
      invalid: [{ profile: tooLarge }],
    },
    updateUserPassword: {
      scope: 'users:write',
      given: async () => ({ id: await make.user(), password: 'long enough' }),
      invalid: [{ password: 'short' }],
    },
    updateUserSuspensionStatus: {
      scope: 'users:write',
      given: async () => ({ id: await make.user(), isSuspended: true }),
    },
    deleteUser: byId('users:write', make.user),
    signOutUser: byId('users:write', make.user),
    importUsers: {
      scope: 'users:write',
      given: async () => ({ users: [{ username: next('imported') }] }),
      invalid: [{ users: Array.from({ length: 1001 }, () => ({})) }],
    },
    assignUserRoles: userRoles,
    replaceUserRoles: userRoles,
    removeUserRole: {
      scope: 'users:write',
      async given() {
        const [userId, roleId] = [await make.user(), await make.role()];
        await done('assignUserRoles', { userId, roleIds: [roleId] });
        return { userId, roleId };
      },
    },
    endUserSession: {
      scope: 'users:write',
      async given() {
        const userId = await make.user();
        return { userId, sessionId: (await createSession(userId)).id };
      },
    },
    unlockIdentifier: {
      scope: 'users:write',
      given: async () => ({ type: 'USERNAME', value: 'Ada' }),
      invalid: [{ value: ' ' }, { value: 'x'.repeat(321) }],
    },
    createOneTimeToken: {
      scope: 'users:write',
      given: async () => ({ email: `${next('new')}@example.com`, context: { from: 'a test' } }),
      invalid: [
        { email: 'nowhere' },
        { expiresInSeconds: 0 },
        { expiresInSeconds: 604_801 },
        { context: tooLarge },
      ],
    },

    updateSignInExperience: {
      scope: 'experience:write',
      given: async () => ({ branding: { productName: next('Product') } }),
      invalid: [
        { signInIdentifiers: [] },
        { signUpIdentifiers: [] },
        { passwordPolicy: { minLength: 7 } },
        { passwordPolicy: { blocklist: [' '] } },
        { codePolicy: { ttlSeconds: 601 } },
        { lockoutPolicy: { maxAttempts: 101 } },
        { sessionPolicy: { idleSeconds: 0 } },
        { branding: { primaryColor: 'red; }' } },
        { branding: { logoUrl: 'javascript:alert(1)' } },
        { branding: { productName: '' } },
      ],
    },

    createRole: {
      scope: 'roles:write',
      given: async () => ({ name: next('new'), scopeIds: [await make.scope()] }),
      invalid: [
        { name: ' ' },
        { description: 'x'.repeat(1025) },
        { scopeIds: tooMany('scope', 1001) },
      ],
      duplicate: takenName(make.role),
    },
    updateRole: {
      scope: 'roles:write',
      given: async () => ({ id: await make.role(), name: next('changed') }),
      invalid: [{ name: '' }, { name: null }, { isDefault: null }],
      duplicate: takenName(make.role),
    },
    deleteRole: byId('roles:write', make.role),
    addRoleScopes: {
      scope: 'roles:write',
      given: async () => ({ roleId: await make.role(), scopeIds: [await make.scope()] }),
      invalid: [{ scopeIds: tooMany('scope', 1001) }],
    },
    removeRoleScope: {
      scope: 'roles:write',
      async given() {
        const scopeId = await make.scope();
        return { roleId: await make.role({ scopeIds: [scopeId] }), scopeId };
      },
    },

    createResource: {
      scope: 'resources:write',
      given: async () => ({
        name: 'New',
        indicator: `https://${next('new').replace('_', '-')}.example.com`,
      }),
      invalid: [{ name: '' }, { indicator: 'relative' }, { accessTokenTtlSeconds: 0 }],
      async duplicate() {
        const indicator = `https://${next('taken').replace('_', '-')}.example.com`;
        await done('createResource', { name: 'Taken', indicator });
        return { replace: { indicator }, path: 'indicator' };
      },
    },
    updateResource: {
      scope: 'resources:write',
      given: async () => ({ id: await make.resource(), name: 'Changed' }),
      invalid: [{ name: '' }, { accessTokenTtlSeconds: 2_592_001 }],
    },
    deleteResource: byId('resources:write', make.resource),
    createScope: {
      scope: 'resources:write',
      given: async () => ({ resourceId: await make.resource(), name: next('new') }),
      invalid: [{ name: 'two words' }, { description: 'x'.repeat(1025) }],
      async duplicate({ resourceId }) {
        const name = next('taken');
        await make.scope({ resourceId, name });
        return { replace: { name }, path: 'name' };
      },
    },
    updateScope: {
      scope: 'resources:write',
      given: async () => ({ id: await make.scope(), name: next('changed') }),
      invalid: [{ name: 'two words' }, { name: null }],
      async duplicate() {
        const [resourceId, name] = [await make.resource(), next('taken')];
        await make.scope({ resourceId, name });
        return { replace: { id: await make.scope({ resourceId }), name }, path: 'name' };
      },
    },
    deleteScope: byId('resources:write', make.scope),

    createApplication: {
      scope: 'applications:write',
      given: async () => ({ name: 'New', type: 'TRADITIONAL' }),
      invalid: [
        { name: '' },
        { redirectUris: ['nowhere'] },
        { corsAllowedOrigins: ['https://a.example.com/path'] },
      ],
    },
    updateApplication: {
      scope: 'applications:write',
      given: async () => ({ id: await make.application(), name: 'Changed' }),
      invalid: [{ name: '' }, { exchangeResources: ['relative'] }],
    },
    deleteApplication: byId('applications:write', make.application),
    createApplicationSecret: {
      scope: 'applications:write',
      given: async () => ({ applicationId: await make.application(), name: next('new') }),
      invalid: [{ name: '' }, { expiresAt: '2001-01-01T00:00:00Z' }],
      async duplicate({ applicationId }) {
        const name = next('taken');
        await done('createApplicationSecret', { applicationId, name });
        return { replace: { name }, path: 'name' };
      },
    },
    deleteApplicationSecret: byId('applications:write', async () => {
      const applicationId = await make.application();
      return (await done('createApplicationSecret', { applicationId, name: 'Second' }))
        .applicationSecret.id;
    }),
    assignApplicationRoles: applicationRoles,
    replaceApplicationRoles: applicationRoles,
    removeApplicationRole: {
      scope: 'applications:write',
      async given() {
        const [applicationId, roleId] = [await make.application(), await make.role(m2m)];
        await done('assignApplicationRoles', { applicationId, roleIds: [roleId] });
        return { applicationId, roleId };
      },
    },

    createOrganization: {
      scope: 'organizations:write',
      given: async () => ({ name: 'New', customData: { seats: 3 } }),
      invalid: [{ name: '' }, { description: 'x'.repeat(1025) }, { customData: tooLarge }],
    },
    updateOrganization: {
      scope: 'organizations:write',
      given: async () => ({ id: await make.organization(), name: next('changed') }),
      invalid: [{ name: '' }, { name: null }],
    },
    deleteOrganization: byId('organizations:write', make.organization),
    addOrganizationUsers: members,
    replaceOrganizationUsers: members,
    removeOrganizationUser: { scope: 'organizations:write', given: make.member },
    addOrganizationApplications: applicationMembers,
    replaceOrganizationApplications: applicationMembers,
    removeOrganizationApplication: { scope: 'organizations:write', given: make.applicationMember },
    assignOrganizationUserRoles: memberRoles,
    replaceOrganizationUserRoles: memberRoles,
    removeOrganizationUserRole: {
      scope: 'organizations:write',
      async given() {
        const [member, organizationRoleId] = [await make.member(), await make.organizationRole()];
        await done('assignOrganizationUserRoles', {
          ...member,
          organizationRoleIds: [organizationRoleId],
        });
        return { ...member, organizationRoleId };
      },
    },
    assignOrganizationApplicationRoles: applicationMemberRoles,
    replaceOrganizationApplicationRoles: applicationMemberRoles,
    removeOrganizationApplicationRole: {
      scope: 'organizations:write',
      async given() {
        const member = await make.applicationMember();
        const organizationRoleId = await make.organizationRole(m2m);
        await done('assignOrganizationApplicationRoles', {
          ...member,
          organizationRoleIds: [organizationRoleId],
        });
        return { ...member, organizationRoleId };
      },
    },
    createOrganizationInvitation: {
      scope: 'organizations:write',
      given: async () => ({
        organizationId: await make.organization(),
        invitee: `${next('new')}@example.com`,
        organizationRoleIds: [await make.organizationRole()],
      }),
      invalid: [{ invitee: 'nobody' }, { expiresAt: '2001-01-01T00:00:00Z' }],
      async duplicate({ organizationId }) {
        const invitee = `${next('taken')}@example.com`;
        await make.invitation({ organizationId, invitee });
        return { replace: { invitee: invitee.toUpperCase() }, path: 'invitee' };
      },
    },
    updateOrganizationInvitationStatus: {
      scope: 'organizations:write',
      async given() {
        const invitee = `${next('invitee')}@example.com`;
        const acceptedUserId = await make.user({ primaryEmail: invitee });
        return { id: await make.invitation({ invitee }), status: 'ACCEPTED', acceptedUserId };
      },
      invalid: [{ status: 'PENDING' }, { acceptedUserId: null }],
    },
    deleteOrganizationInvitation: byId('organizations:write', make.invitation),
    addOrganizationEmailDomain: {
      scope: 'organizations:write',
      given: async () => ({ organizationId: await make.organization(), domain: 'example.com' }),
      invalid: [{ domain: 'no domain' }],
      async duplicate({ organizationId }) {
        await done('addOrganizationEmailDomain', { organizationId, domain: 'taken.example.com' });
        return { replace: { domain: 'TAKEN.example.com' }, path: 'domain' };
      },
    },
    removeOrganizationEmailDomain: {
      scope: 'organizations:write',
      async given() {
        const key = { organizationId: await make.organization(), domain: 'example.com' };
        await done('addOrganizationEmailDomain', key);
        return key;
      },
      missing: { domain: 'other.example.com' },
    },
    replaceOrganizationJitRoles: {
      scope: 'organizations:write',
      given: async () => ({
        organizationId: await make.organization(),
        organizationRoleIds: [await make.organizationRole()],
      }),
      invalid: [{ organizationRoleIds: tooMany('orgrole', 101) }],
    },
    createOrganizationRole: {
      scope: 'organizations:write',
      given: async () => ({
        name: next('new'),
        organizationScopeIds: [await make.organizationScope()],
        scopeIds: [await make.scope()],
      }),
      invalid: [{ name: '' }, { description: 'x'.repeat(1025) }],
      duplicate: takenName(make.organizationRole),
    },
    updateOrganizationRole: {
      scope: 'organizations:write',
      given: async () => ({ id: await make.organizationRole(), name: next('changed') }),
      invalid: [{ name: '' }, { name: null }],
      duplicate: takenName(make.organizationRole),
    },
    deleteOrganizationRole: byId('organizations:write', make.organizationRole),
    createOrganizationScope: {
      scope: 'organizations:write',
      given: async () => ({ name: next('new') }),
      invalid: [{ name: 'two words' }],
      duplicate: takenName(make.organizationScope),
    },
    updateOrganizationScope: {
      scope: 'organizations:write',
      given: async () => ({ id: await make.organizationScope(), name: next('changed') }),
      invalid: [{ name: 'two words' }, { name: null }],
      duplicate: takenName(make.organizationScope),
    },
    deleteOrganizationScope: byId('organizations:write', make.organizationScope),
    addOrganizationRoleScopes: organizationRoleScopes,
    replaceOrganizationRoleScopes: organizationRoleScopes,
    removeOrganizationRoleScope: {
      scope: 'organizations:write',
      async given() {
        const organizationScopeId = await make.organizationScope();
        const organizationRoleId = await make.organizationRole({
          organizationScopeIds: [organizationScopeId],
        });
        return { organizationRoleId, organizationScopeId };
      },
    },
    addOrganizationRoleResourceScopes: {
      scope: 'organizations:write',
      given: async () => ({
        organizationRoleId: await make.organizationRole(),
        scopeIds: [await make.scope()],
      }),
      invalid: [{ scopeIds: tooMany('scope', 1001) }],
    },
    removeOrganizationRoleResourceScope: {
      scope: 'organizations:write',
      async given() {
        const scopeId = await make.scope();
        return {
          organizationRoleId: await make.organizationRole({ scopeIds: [scopeId] }),
          scopeId,
        };
      },
    },

    createWebhook: {
      scope: 'webhooks:write',
      scopesBeside: ['events:read'],
      given: async () => ({ name: 'New', url: 'https://127.0.0.1/hook', enabled: false }),
      invalid: [
        { name: '' },
        { url: 'ftp://example.com' },
        { maxInFlight: 0 },
        { query: '{ nothing }' },
      ],
    },
    updateWebhook: {
      scope: 'webhooks:write',
      scopesBeside: ['events:read'],
      given: async () => ({ id: await make.webhook(), name: 'Changed' }),
      invalid: [{ name: '' }, { url: 'nowhere' }],
    },
    deleteWebhook: byId('webhooks:write', make.webhook),
    rotateWebhookSecret: byId('webhooks:write', make.webhook),
    testWebhook: byId('webhooks:write', make.webhook),
    redeliver: {
      scope: 'webhooks:write',
      async given() {
        const id = await make.webhook();
        return { deliveryId: (await done('testWebhook', { id })).delivery.id };
      },
    },
    replayEvents: {
      scope: 'webhooks:write',
      given: async () => ({ webhookId: await make.webhook(), since: '2001-01-01T00:00:00Z' }),
      invalid: [{ after: 'nonsense' }],
    },

    setEmailSender: {
      scope: 'experience:write',
      given: async () => ({ smtp: { host: '127.0.0.1', port: 9, from: 'Acme <a@example.com>' } }),
      invalid: [
        { smtp: null },
        { smtp: { host: 'two words', from: 'a@example.com' } },
        { smtp: { host: '127.0.0.1', from: 'nobody' } },
        { smtp: { host: '127.0.0.1', port: 0, from: 'a@example.com' } },
        { smtp: { host: '127.0.0.1', from: 'a@example.com', username: 'alone' } },
        { http: { url: 'nowhere', secret: webhookSecret }, smtp: null },
      ],
    },
    setSmsSender: {
      scope: 'experience:write',
      given: async () => ({ http: { url: 'https://127.0.0.1/', secret: webhookSecret } }),
      invalid: [
        { http: { url: 'ftp://example.com', secret: webhookSecret } },
        { http: { url: 'https://127.0.0.1/', secret: 'whsec_short' } },
      ],
    },
    removeEmailSender: { scope: 'experience:write', given: async () => ({}) },
    removeSmsSender: { scope: 'experience:write', given: async () => ({}) },
    sendTestMessage: {
      scope: 'experience:write',
      given: async () => ({ channel: 'EMAIL', recipient: 'a@example.com' }),
      invalid: [{ recipient: 'nobody' }],
    },

    rotateSigningKey: { scope: 'all', given: async () => ({}) },
    deleteSigningKey: byId(
      'all',
      async () => (await done('rotateSigningKey', {})).retiredSigningKey.id,
    ),
  };
}
