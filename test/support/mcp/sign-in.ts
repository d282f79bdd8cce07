import {
  auth,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { type ManagementScope, managementIndicator } from '../../../src/auth/scopes.ts';
import type { User } from '../../../src/generated/prisma/client.ts';
import { newId } from '../../../src/ids.ts';
import { type Browser, openBrowser, type Visit } from '../people/sign-in.ts';
import { password, redirectUri } from '../people/sign-in-fixture.ts';
import type { TestService } from '../service.ts';

/** How the client is known, and what it asks for. */
export interface McpSignIn {
  /** The URL of the resource: all that the client knows. */
  readonly serverUrl: string;
  /** Its client id, if it has one. */
  readonly information?: StoredOAuthClientInformation;
  /** The URL of its metadata document, if it has one. */
  readonly clientMetadataUrl?: string;
  readonly metadata?: Partial<OAuthClientMetadata>;
  readonly scope?: string;
  readonly username: string;
  readonly browser?: Browser;
}

/** What came of it. */
export interface McpSignedIn {
  readonly tokens: StoredOAuthTokens;
  readonly information: StoredOAuthClientInformation;
  /** The authorization request. */
  readonly asked: URL;
  /** The page of consent, if there was one. */
  readonly consent: Visit | undefined;
}

/** Signs a person in by the protocol's own client: its `auth` is run as it is, and the person allows what it asks. */
export async function signInByMcp(
  { app }: Pick<TestService, 'app'>,
  request: McpSignIn,
): Promise<McpSignedIn> {
  const { serverUrl, scope, clientMetadataUrl, username } = request;
  let information = request.information;
  let tokens: StoredOAuthTokens | undefined;
  let asked: URL | undefined;
  let verifier = '';
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientMetadata: {
      redirect_uris: [redirectUri],
      client_name: 'Agent',
      token_endpoint_auth_method: 'none',
      ...request.metadata,
    },
    clientInformation: () => information,
    saveClientInformation(saved) {
      information = saved;
    },
    tokens: () => tokens,
    saveTokens(saved) {
      tokens = saved;
    },
    redirectToAuthorization(url) {
      asked = url;
    },
    saveCodeVerifier(saved) {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
  await auth(provider, { serverUrl, ...(scope === undefined ? {} : { scope }) });
  if (!asked) throw new Error('The client asked for no authorization.');
  const browser = request.browser ?? openBrowser(app.services.baseUrl);
  let visit = await browser.open(asked);
  if (/name="identifier"/.test(visit.body))
    visit = await browser.submit(visit, { identifier: username, password });
  const consent = visit.url.pathname.endsWith('/consent') ? visit : undefined;
  if (consent) visit = await browser.submit(consent, { decision: 'allow' });
  const authorizationCode = visit.url.searchParams.get('code');
  if (authorizationCode === null)
    throw new Error(`The sign-in ended at ${visit.url} (${visit.status}): ${visit.body}`);
  const iss = visit.url.searchParams.get('iss') ?? undefined;
  await auth(provider, { serverUrl, authorizationCode, ...(iss ? { iss } : {}) });
  if (!tokens || !information) throw new Error('The client got no tokens.');
  return { tokens, information, asked, consent };
}

/** Gives a person a role with one scope of the management API. */
export async function allowManagement(
  { app: { services } }: Pick<TestService, 'app'>,
  { id: userId }: Pick<User, 'id'>,
  name: ManagementScope,
): Promise<void> {
  const scope = await services.database.prisma.scope.findFirstOrThrow({
    where: { name, resource: { indicator: managementIndicator } },
  });
  const [createdAt, updatedAt] = [services.clock.now(), services.clock.now()];
  await services.database.prisma.role.create({
    data: {
      ...{ id: newId('Role'), name: `May ${name}`, type: 'USER', createdAt, updatedAt },
      scopes: { create: { scopeId: scope.id } },
      users: { create: { userId, setterScopes: ['all'] } },
    },
  });
}
