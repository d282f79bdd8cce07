import type { Draft } from '../draft.ts';
import type { Part } from '../part.ts';
import { readClient } from './clients.ts';
import { isOwnClient, nameOf, type Realm } from './realm.ts';
import { Roles } from './roles.ts';
import { readSignIn } from './sign-in.ts';

const google = 'https://accounts.google.com';

/** Reads the configuration of a Keycloak realm. */
export function readKeycloak(realm: Realm, draft: Draft): void {
  const { settings, name } = realm;
  const roles = new Roles(settings);
  const clients = settings
    .list('clients')
    .filter((client) => !isOwnClient(name, client.text('clientId') ?? ''));
  for (const client of clients) readScopes(client, roles, realm, draft);
  readRoles(settings, name, roles, draft);
  for (const client of clients) readClient(client, roles, realm, draft);
  for (const provider of settings.list('identityProviders')) readProvider(provider, draft);
  readSmtp(settings.get('smtpServer'), draft);
  readSignIn(settings, draft);
  readClientScopes(settings);
  for (const [field, why] of Object.entries(others)) {
    const count = settings.list(field).length;
    if (count > 0) settings.findings.say(`${settings.place}: ${field} (${count})`, why);
  }
  settings.ignore('id', 'realm', 'enabled', 'keycloakVersion', 'users', 'notBefore');
  settings.leaveUnread();
}

const others = {
  groups: 'not taken: create organizations, or roles, for what they stand for',
  organizations: 'not taken: create them with createOrganization',
  authenticationFlows: 'not taken: the steps of a sign-in follow from signInExperience',
  identityProviderMappers: 'not taken: Signet takes the standard claims of a provider',
  requiredActions: 'not taken: Signet has no such setting',
};

/** The roles of a client become the scopes of a resource. */
function readScopes(
  client: Part,
  roles: Roles,
  { settings, name: realm }: Realm,
  draft: Draft,
): void {
  const clientId = client.text('clientId') ?? '';
  const own = roles.of(clientId);
  if (own.length === 0) return;
  const isUri = URL.canParse(clientId) && !clientId.includes('#');
  const indicator = isUri
    ? clientId
    : `urn:keycloak:${encodeURIComponent(realm)}:${encodeURIComponent(clientId)}`;
  const taken = draft.resource(
    client,
    {
      indicator,
      name: nameOf(client),
      accessTokenTtlSeconds: settings.number('accessTokenLifespan'),
    },
    own.map(({ part, name }) => [part, { name, description: describe(part) }]),
  );
  if (taken === undefined) return;
  roles.setIndicator(clientId, taken);
  client.leave(
    `its roles are now scopes of ${taken}: that is the audience of tokens, not ${clientId}`,
  );
}

const describe = (part: Part): string | undefined => {
  const description = part.text('description');
  return description && !/^\$\{.*\}$/.test(description) ? description : undefined;
};

function readRoles(settings: Part, realm: string, roles: Roles, draft: Draft): void {
  const defaultRole = settings.get('defaultRole').text('name') ?? `default-roles-${realm}`;
  const own = ['offline_access', 'uma_authorization', 'admin', 'create-realm'].slice(
    0,
    realm === 'master' ? 4 : 2,
  );
  const all = roles.of(undefined);
  const composites = all.find(({ name }) => name === defaultRole)?.part.get('composites');
  const defaults = [...(composites?.texts('realm') ?? []), ...settings.texts('defaultRoles')];
  for (const { name, part } of all) {
    const isDefault = name === defaultRole;
    // The roles in it become default roles themselves.
    const scopes = roles.scopesOf(undefined, name, isDefault ? defaults : []);
    if (own.includes(name) || (isDefault && scopes.length === 0)) continue;
    draft.role(
      part,
      {
        name,
        description: describe(part),
        isDefault: isDefault || defaults.includes(name) ? true : undefined,
      },
      scopes,
    );
    part.ignore('id', 'composite', 'clientRole', 'containerId');
    part.leaveUnread();
  }
}

function readProvider(part: Part, draft: Draft): void {
  const config = part.get('config');
  const kind = part.text('providerId');
  const isOidc = kind === 'oidc' || kind === 'keycloak-oidc';
  if (!isOidc && kind !== 'google') {
    part.leave(`is not taken: ${kind ?? 'it'} has no OpenID Connect that Signet can use`);
    return;
  }
  draft.identityProvider(part, {
    name: part.text('displayName') || part.text('alias'),
    kind: 'SOCIAL',
    issuer: isOidc ? config.text('issuer') : google,
    clientId: config.text('clientId'),
    scopes: config
      .text('defaultScope')
      ?.split(' ')
      .filter((one) => one !== ''),
    enabled: part.flag('enabled'),
  });
  part.ignore('internalId', 'alias', 'updateProfileFirstLoginMode', 'firstBrokerLoginFlowAlias');
  config.ignore('clientSecret', 'tokenUrl', 'authorizationUrl', 'jwksUrl', 'userInfoUrl');
  config.ignore('logoutUrl', 'metadataDescriptorUrl', 'useJwksUrl', 'validateSignature');
  config.ignore('pkceEnabled', 'pkceMethod', 'clientAuthMethod');
  config.leaveUnread();
  part.leaveUnread();
}

function readSmtp(part: Part, draft: Draft): void {
  if (!part.has('host')) return;
  const [from, name] = [part.text('from') ?? '', part.text('fromDisplayName')];
  draft.smtp(part, {
    host: part.text('host'),
    port: part.number('port'),
    secure: part.flag('ssl') ? true : undefined,
    username: part.flag('auth') ? part.text('user') : undefined,
    from: name ? `"${name.replaceAll(/["\\\p{Cc}]/gu, '')}" <${from}>` : from,
  });
  part.ignore('starttls', 'password', 'user', 'authType');
  part.leaveUnread();
}

// Those of a new realm.
const ownScopes = [
  'acr',
  'address',
  'basic',
  'email',
  'microprofile-jwt',
  'offline_access',
  'openid',
  'organization',
  'phone',
  'profile',
  'role_list',
  'roles',
  'saml_organization',
  'service_account',
  'web-origins',
];

function readClientScopes(settings: Part): void {
  for (const scope of settings.list('clientScopes')) {
    if (ownScopes.includes(scope.text('name') ?? '')) continue;
    scope.leave('is not taken: a scope belongs to a resource in Signet; add it to its API');
  }
  settings.ignore('defaultDefaultClientScopes', 'defaultOptionalClientScopes', 'scopeMappings');
  settings.ignore('clientScopeMappings');
}
