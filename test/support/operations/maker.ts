import type { Call, Input } from './operations.ts';

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

  // Nothing listens there: only an answer can be wrong.
  const identityProvider = (values: Input = {}) =>
    make('createIdentityProvider', 'identityProvider', {
      name: next('provider'),
      kind: 'SOCIAL',
      issuer: 'http://127.0.0.1:9',
      clientId: 'signet',
      ...values,
    });

  const trustedIssuer = async (values: Input = {}) =>
    make('createTrustedIssuer', 'trustedIssuer', {
      name: next('issuer'),
      issuer: 'http://127.0.0.1:9',
      jwksUri: 'http://127.0.0.1:9/jwks',
      kind: 'WORKLOAD',
      claimRules: [{ claim: 'sub', equals: 'repo:acme/shop' }],
      ...values,
      applicationId: values['applicationId'] ?? (await application()),
    });
  const crossAppConnection = async (values: Input = {}) =>
    make('createCrossAppConnection', 'crossAppConnection', {
      issuer: `https://${next('other').replace('_', '-')}.example.com`,
      clientId: 'wiki',
      ...values,
      applicationId: values['applicationId'] ?? (await application()),
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
    identityProvider,
    trustedIssuer,
    crossAppConnection,
    member,
    applicationMember,
    invitation,
  };
}

/** Creates records through the management API. */
export type Maker = ReturnType<typeof createMaker>;
