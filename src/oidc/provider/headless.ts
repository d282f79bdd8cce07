import { needsConsent } from '../../auth/granting/consent.ts';
import type { InputIssue } from '../../errors.ts';
import type { Services } from '../../services.ts';
import { claimsByScope } from './accounts.ts';
import { getProvider } from './provider.ts';
import { readDefinedScopes } from './resource-servers.ts';
import { applicationOf } from './storage/clients.ts';

/** A request to sign a person in without a browser (RFC 6749 §4.1.1, RFC 7636, RFC 8707). */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  /** Separated by spaces. */
  readonly scope: string;
  readonly resource?: string | null | undefined;
  readonly codeChallenge: string;
  readonly nonce?: string | null | undefined;
  readonly organizationId?: string | null | undefined;
}

/** Why an application may not make this request; undefined if it may. */
export async function findAuthorizationFault(
  services: Services,
  clientId: string,
  { redirectUri, resource, scope }: AuthorizationRequest,
): Promise<InputIssue | undefined> {
  const client = await getProvider(services).Client.find(clientId);
  if (!client?.redirectUriAllowed(redirectUri)) {
    return { path: ['redirectUri'], message: 'is none of the redirect URIs of the application' };
  }
  if (resource == null) return undefined;
  if (needsConsent(applicationOf(client), resource)) {
    return { path: ['resource'], message: 'needs the consent of the person, in a browser' };
  }
  const { ttlSeconds } = await readDefinedScopes(services, scope.split(' '), resource);
  return ttlSeconds === null
    ? { path: ['resource'], message: 'is the indicator of no resource' }
    : undefined;
}

/** Who has signed in, and how. */
export interface Authenticated {
  readonly userId: string;
  readonly authenticatedAt: number;
  readonly acr: string;
  /** Authentication method references (RFC 8176). */
  readonly amr: readonly string[];
  readonly sessionId: string;
  readonly sessionTtlSeconds: number;
}

/** A new authorization code, and the way to revoke it. */
export interface IssuedCode {
  readonly code: string;
  /** Destroys the code, its grant and its session. */
  revoke(): Promise<void>;
}

/**
 * Issues an authorization code as the authorization endpoint does, for a person who signed in without a browser. The
 * user's scopes are checked later, when a token is issued.
 */
export async function issueCode(
  services: Services,
  clientId: string,
  request: AuthorizationRequest,
  { userId, authenticatedAt, acr, amr, sessionId, sessionTtlSeconds }: Authenticated,
): Promise<IssuedCode> {
  const provider = getProvider(services);
  const client = await provider.Client.find(clientId);
  if (!client) throw new Error('The application has just been looked at.');
  const asked = request.scope.split(' ');
  const oidcScopes = asked.filter(
    (scope) =>
      Object.hasOwn(claimsByScope, scope) ||
      (scope === 'offline_access' && client.grantTypeAllowed('refresh_token')),
  );
  const resourceScopes = request.resource
    ? (await readDefinedScopes(services, asked, request.resource)).scopes
    : [];
  const grant = new provider.Grant({ accountId: userId, clientId });
  grant.addOIDCScope(oidcScopes.join(' '));
  if (request.resource) grant.addResourceScope(request.resource, resourceScopes.join(' '));
  const grantId = await grant.save();
  const code = new provider.AuthorizationCode({
    client,
    gty: 'authorization_code',
    accountId: userId,
    authTime: authenticatedAt,
    acr,
    amr: [...amr],
    grantId,
    redirectUri: request.redirectUri,
    codeChallenge: request.codeChallenge,
    codeChallengeMethod: 'S256',
    scope: [...new Set([...oidcScopes, ...resourceScopes])].join(' '),
    sessionUid: sessionId,
    ...(request.nonce ? { nonce: request.nonce } : {}),
    ...(request.resource ? { resource: request.resource } : {}),
  });
  const value = await code.save();
  // No browser holds this session. Operations that end sessions find the grant through it.
  const session = Object.assign(new provider.Session(), {
    uid: sessionId,
    accountId: userId,
    loginTs: authenticatedAt,
    acr,
    amr: [...amr],
    authorizations: { [clientId]: { grantId } },
  });
  await session.save(sessionTtlSeconds);
  return {
    code: value,
    async revoke() {
      await session.destroy();
      await code.destroy();
      await grant.destroy();
    },
  };
}
