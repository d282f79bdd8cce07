import type { Draft } from '../draft.ts';
import type { Part } from '../part.ts';
import { exactUris, originsOf } from '../uris.ts';
import { nameOf, type Realm } from './realm.ts';
import type { Roles } from './roles.ts';

/** Reads a client as an application. */
export function readClient(part: Part, roles: Roles, realm: Realm, draft: Draft): void {
  const clientId = part.text('clientId') ?? '';
  if (part.flag('enabled') === false) {
    part.leave('is not taken: it is disabled');
    return;
  }
  if (part.has('protocol') && part.text('protocol') !== 'openid-connect') {
    part.leave(`is not taken: Signet has no ${part.text('protocol')}`);
    return;
  }
  const isService = part.flag('serviceAccountsEnabled') === true;
  const signsIn = !part.flag('bearerOnly') && part.flag('standardFlowEnabled') !== false;
  const name = nameOf(part);
  const description =
    part.text('description') || (name === clientId ? undefined : `${clientId} in Keycloak`);
  if (signsIn) draft.application(part, { name, description, ...signInOf(part) });
  const others = ['implicitFlowEnabled', 'directAccessGrantsEnabled'].filter((one) =>
    part.flag(one),
  );
  if (others.length > 0) part.leave(`${others.join(', ')}: Signet has no such grant`);
  if (isService) {
    const account = realm.serviceAccounts.get(clientId);
    const scopes = account ? roles.scopesOfUser(account) : [];
    const role =
      scopes.length > 0
        ? draft.role(
            part,
            { name: `${clientId} (service account)`, type: 'MACHINE_TO_MACHINE' },
            scopes,
          )
        : undefined;
    if (signsIn)
      part.leave('has a service account: it becomes an application of its own, for machines');
    draft.application(
      part,
      {
        name: signsIn ? `${name} (machine)` : name,
        description,
        type: 'MACHINE_TO_MACHINE',
      },
      [role],
    );
  }
  if (!signsIn && !isService && roles.of(clientId).length === 0) {
    part.leave('is no application in Signet: it signs nobody in, and has no service account');
  }
  if (part.has('authorizationSettings')) {
    part.get('authorizationSettings').leave('Signet has no policies for single records');
  }
  leaveRest(part);
}

function signInOf(part: Part) {
  const attributes = part.get('attributes');
  const root = part.text('rootUrl') ?? part.text('baseUrl') ?? '';
  const absolute = (uri: string) =>
    uri.startsWith('/') ? (URL.parse(uri, URL.parse(root) ?? undefined)?.href ?? uri) : uri;
  const given = part.texts('redirectUris').map(absolute);
  const redirectUris = exactUris(part, 'redirectUris', given);
  const after = attributes.text('post.logout.redirect.uris')?.split('##') ?? [];
  const afterLogout = after.flatMap((uri) =>
    uri === '+' ? redirectUris : uri === '-' || uri === '' ? [] : absolute(uri),
  );
  const origins = part
    .texts('webOrigins')
    .flatMap((origin) => (origin === '+' ? originsOf(given) : origin === '' ? [] : origin));
  const isNative = redirectUris.some((uri) => !/^https?:/.test(uri));
  const alg = attributes.text('id.token.signed.response.alg');
  return {
    type: part.flag('publicClient') ? (isNative ? 'NATIVE' : 'SPA') : 'TRADITIONAL',
    redirectUris,
    postLogoutRedirectUris: exactUris(part, 'post.logout.redirect.uris', afterLogout),
    corsAllowedOrigins: exactUris(part, 'webOrigins', origins),
    isThirdParty: part.flag('consentRequired') ? true : undefined,
    idTokenSigningAlg: alg || undefined,
  };
}

function leaveRest(part: Part): void {
  part.ignore('id', 'secret', 'adminUrl', 'surrogateAuthRequired', 'clientAuthenticatorType');
  part.ignore('notBefore', 'protocol', 'fullScopeAllowed', 'nodeReRegistrationTimeout', 'baseUrl');
  part.ignore('defaultClientScopes', 'optionalClientScopes', 'access', 'alwaysDisplayInConsole');
  part.ignore('frontchannelLogout', 'authorizationServicesEnabled', 'rootUrl', 'webOrigins');
  part.ignore(
    'standardFlowEnabled',
    'bearerOnly',
    'publicClient',
    'redirectUris',
    'consentRequired',
  );
  const attributes = part.get('attributes');
  attributes.ignore('post.logout.redirect.uris', 'id.token.signed.response.alg', 'realm_client');
  attributes.ignore('client.secret.creation.time', 'pkce.code.challenge.method');
  attributes.ignore('backchannel.logout.session.required');
  attributes.leaveUnread();
  part.leaveUnread();
}
