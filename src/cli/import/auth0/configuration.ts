import type { Draft, ScopeName } from '../draft.ts';
import type { Part } from '../part.ts';
import { exactUris } from '../uris.ts';
import { readIdentityProvider } from './identity-providers.ts';
import { type Sections, usersSection } from './sections.ts';
import { readSignIn } from './sign-in.ts';

const code = 'code that runs at Auth0: follow the events of Signet instead';
const looks = 'pages and texts of its own: Signet has its own pages, and lets you make yours';

/** Why whole sections are not taken. */
const reasons: Readonly<Record<string, string>> = {
  actions: code,
  actionModules: code,
  hooks: code,
  rules: code,
  rulesConfigs: code,
  triggers: code,
  pages: looks,
  prompts: looks,
  emailTemplates: looks,
  emails: looks,
  organizations: 'organizations are no configuration: create them with createOrganization',
  logStreams: 'create webhooks for the events that you want',
};

const types: Readonly<Record<string, string>> = {
  spa: 'SPA',
  native: 'NATIVE',
  regular_web: 'TRADITIONAL',
  non_interactive: 'MACHINE_TO_MACHINE',
};

/** Whether an API is one of Auth0 itself. */
const isOwnApi = (identifier: string) =>
  /^https:\/\/[^/]+\/(?:api\/v2|me|userinfo)\/?$/.test(identifier);

const knownGrants = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:token-exchange',
];

/** Reads the configuration of an Auth0 tenant, as its deploy CLI exports it. */
export function readAuth0(sections: Sections, draft: Draft): void {
  const of = (name: string) => sections.get(name) ?? [];
  for (const resource of of('resourceServers')) readResource(resource, draft);
  for (const role of of('roles')) readRole(role, draft);
  const grants = Map.groupBy(of('clientGrants'), (grant) => grant.text('client_id'));
  const clientsOfGrants = new Set<string>();
  for (const client of of('clients')) {
    const keys = [client.text('name'), client.text('client_id')].filter((key) => key !== undefined);
    const own = keys.flatMap((key) => grants.get(key) ?? []);
    for (const key of keys) clientsOfGrants.add(key);
    readClient(client, own, draft);
  }
  for (const [name, orphans] of grants) {
    if (name === undefined || clientsOfGrants.has(name)) continue;
    for (const grant of orphans)
      grant.leave(`is not taken: the client ${name} is not in the export`);
  }
  for (const connection of of('connections')) readIdentityProvider(connection, draft);
  readSignIn(sections, draft);
  for (const provider of of('emailProvider')) readEmailProvider(provider, draft);
  leaveOthers(sections);
}

const taken = new Set([
  usersSection,
  'resourceServers',
  'roles',
  'clients',
  'clientGrants',
  'connections',
  'databases',
  'emailProvider',
  'tenant',
  'branding',
  'guardianFactors',
  'guardianPolicies',
  'bruteForceProtection',
]);

function leaveOthers(sections: Sections): void {
  for (const [name, parts] of sections) {
    if (taken.has(name)) continue;
    const some = parts.filter((part) => part.value != null && part.unread().length > 0);
    const [first] = some;
    if (!first) continue;
    const count = some.length > 1 ? ` (${some.length} records)` : '';
    first.findings.say(
      `${name}${count}`,
      `not taken: ${reasons[name] ?? 'Signet has no such records'}`,
    );
  }
}

function readResource(part: Part, draft: Draft): void {
  const identifier = part.text('identifier');
  if (part.flag('is_system') || isOwnApi(identifier ?? '')) {
    part.leave('is not taken: it is an API of Auth0 itself');
    return;
  }
  draft.resource(
    part,
    {
      indicator: identifier,
      name: part.text('name'),
      accessTokenTtlSeconds: part.number('token_lifetime'),
    },
    part
      .list('scopes')
      .map((scope) => [
        scope,
        { name: scope.text('value'), description: scope.text('description') },
      ]),
  );
  part.ignore(
    'id',
    'signing_alg',
    'signing_secret',
    'token_lifetime_for_web',
    'allow_offline_access',
  );
  part.ignore(
    'enforce_policies',
    'token_dialect',
    'skip_consent_for_verifiable_first_party_clients',
  );
  if (part.text('signing_alg') === 'HS256') {
    part.leave(
      'signing_alg: HS256 is not taken: Signet signs with keys whose public half is known',
    );
  }
  part.leaveUnread();
}

function readRole(part: Part, draft: Draft): void {
  const scopes = part
    .list('permissions')
    .map(
      (permission): ScopeName => [
        permission.text('resource_server_identifier') ?? '',
        permission.text('permission_name') ?? '',
      ],
    );
  draft.role(part, { name: part.text('name'), description: part.text('description') }, scopes);
  part.ignore('id');
  part.leaveUnread();
}

function readClient(part: Part, grants: readonly Part[], draft: Draft): void {
  const name = part.text('name');
  const appType = part.text('app_type');
  if (part.flag('global')) return;
  if (part.flag('client_id_metadata_document') || part.has('external_client_id')) {
    part.leave('is not taken: Signet does not read client metadata from elsewhere');
    return;
  }
  const grantTypes = part.texts('grant_types');
  const isService =
    grantTypes.length > 0 && grantTypes.every((grant) => grant === 'client_credentials');
  const type =
    appType === undefined
      ? isService
        ? types['non_interactive']
        : types['regular_web']
      : types[appType];
  if (type === undefined) {
    part.leave(`is not taken: Signet has no applications of the type ${appType}`);
    return;
  }
  if (appType === undefined) part.leave(`has no app_type, and becomes ${type}`);
  const unknown = grantTypes.filter((grant) => !knownGrants.includes(grant));
  if (unknown.length > 0) part.leave(`grant_types: Signet has no ${unknown.join(', ')}`);
  const isMachine = type === 'MACHINE_TO_MACHINE';
  const tokens = part.get('jwt_configuration');
  const alg = tokens.text('alg');
  if (alg === 'HS256' && !isMachine) {
    part.leave('jwt_configuration.alg: Signet signs id tokens with EdDSA, not with HS256');
  }
  const uris = (field: string) => exactUris(part, field, part.texts(field));
  const redirects = {
    redirectUris: uris('callbacks'),
    postLogoutRedirectUris: uris('allowed_logout_urls'),
    corsAllowedOrigins: [...uris('web_origins'), ...uris('allowed_origins')],
    isThirdParty: part.flag('is_first_party') === false ? true : undefined,
    idTokenSigningAlg: alg === 'HS256' ? undefined : alg,
  };
  const description = part.text('description');
  const role = readGrants(`${name} (client grants)`, grants, draft);
  draft.application(
    part,
    { name, type, description, ...(isMachine ? {} : redirects) },
    isMachine ? [role] : [],
  );
  if (!isMachine && role !== undefined) {
    part.leave('has client grants: they go to an application of their own, for machines');
    draft.application(part, { name: `${name} (machine)`, type: 'MACHINE_TO_MACHINE' }, [role]);
  }
  part.ignore('client_id', 'client_secret', 'tenant', 'owners', 'signing_keys', 'oidc_conformant');
  part.ignore('custom_login_page_on', 'cross_origin_auth', 'cross_origin_authentication', 'sso');
  part.ignore('is_token_endpoint_ip_header_trusted', 'sso_disabled', 'callback_url_template');
  part.ignore('token_endpoint_auth_method', 'callbacks', 'allowed_logout_urls', 'web_origins');
  part.ignore('allowed_origins', 'is_first_party');
  part.leaveUnread();
}

/** Auth0 grants scopes to clients; Signet gives them roles. */
function readGrants(name: string, grants: readonly Part[], draft: Draft): string | undefined {
  const [first] = grants;
  const scopes = grants.flatMap((grant) => {
    const audience = grant.text('audience') ?? '';
    if (isOwnApi(audience)) {
      grant.leave('is not taken: its API is one of Auth0 itself');
      return [];
    }
    const granted = grant.texts('scope').map((scope): ScopeName => [audience, scope]);
    grant.ignore('client_id', 'id', 'subject_type', 'organization_usage', 'allow_any_organization');
    grant.leaveUnread();
    return granted;
  });
  return first && scopes.length > 0
    ? draft.role(first, { name, type: 'MACHINE_TO_MACHINE' }, scopes)
    : undefined;
}

function readEmailProvider(part: Part, draft: Draft): void {
  const name = part.text('name');
  if (name === undefined) return;
  if (name !== 'smtp') {
    part.leave(`is not taken: Signet sends by SMTP or posts to a URL; ${name} has an SMTP server`);
    return;
  }
  const credentials = part.get('credentials');
  draft.smtp(part, {
    host: credentials.text('smtp_host'),
    port: credentials.number('smtp_port'),
    username: credentials.text('smtp_user'),
    from: part.text('default_from_address'),
  });
  part.ignore('enabled');
  part.leaveUnread();
}
