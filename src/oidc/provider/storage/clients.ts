import { randomBytes } from 'node:crypto';
import type { ClientMetadata, KoaContextWithOIDC, SigningAlgorithm } from 'oidc-provider';
import { builtInRedirectUri } from '../../../applications/built-in.ts';
import { isConfidential } from '../../../applications/secret.ts';
import { rowsOf } from '../../../db/rows/rows.ts';
import { textForQuery } from '../../../db/sql.ts';
import type {
  Application,
  MetadataDocument,
  SecurityProfile,
} from '../../../generated/prisma/client.ts';
import { idForQuery } from '../../../ids.ts';
import type { Services } from '../../../services.ts';
import type { ConsentRequest } from '../../consent/asked.ts';
import { goneAt } from '../../registration/resolve-document.ts';
import type { KnownCredentials } from '../../token/client-authentication.ts';
import { deviceGrantType } from '../device/grant.ts';

type Client = NonNullable<KoaContextWithOIDC['oidc']['client']>;
type Store = Pick<Services, 'database' | 'clock' | 'baseUrl'>;

/** The client metadata with the origins whose scripts may call as this application. */
export const corsAllowedOrigins = 'cors_allowed_origins';

/** The client metadata on consent: see the columns of Application. */
export const consentMetadata = ['is_third_party', 'setter_scopes'] as const;

/** The client metadata with the security profile of an application. */
export const securityProfile = 'security_profile';

/** The client metadata on PKCE: see the columns of Application. */
export const requirePkce = 'require_pkce';

/** The security profile of a client. */
export const profileOf = (client: ClientMetadata): SecurityProfile =>
  client[securityProfile] as SecurityProfile;

/** Whether an application is held to the FAPI 2.0 security profile; as metadata, or as the library holds it. */
export const isFapi = (client: ClientMetadata | Client | undefined): boolean =>
  client?.[securityProfile] === 'FAPI_2_0';

/** The client metadata with the id by which an application knows itself, if that is not its id here. */
export const ownId = 'own_id';

/** Whether an application is a third party's; as metadata, or as the library holds it. */
export const isThirdParty = (client: ClientMetadata | Client): boolean =>
  client['is_third_party'] === true;

/** The application of a client, in the form that the questions about consent take. */
export const applicationOf = (client: Client): ConsentRequest['application'] => ({
  id: client.clientId,
  type: client.applicationType === 'native' ? 'NATIVE' : 'TRADITIONAL',
  isThirdParty: isThirdParty(client),
  setterScopes: client['setter_scopes'] as string[],
});

// oidc-provider requires a secret for every confidential client, but never compares this one.
const placeholderSecret = randomBytes(32).toString('base64url');

/** An application as oidc-provider's client metadata (RFC 7591 §2), read on every call; undefined if there is none. */
export async function findClientMetadata(
  { database, clock, baseUrl }: Store,
  clientId: string,
): Promise<ClientMetadata | undefined> {
  const id = idForQuery(clientId, 'Application');
  // ID tokens name an application by the id that it knows.
  const metadataUrl = id === null && /^https?:/.test(clientId) ? textForQuery(clientId) : null;
  if (id === null && metadataUrl === null) return undefined;
  const include = { metadataDocument: true } as const;
  const application =
    id === null
      ? await database.prisma.application.findUnique({
          where: { metadataUrl: metadataUrl ?? '' },
          include,
        })
      : await rowsOf<Documented>(database, 'Application').findUnique({ where: { id }, include });
  return isThere(application, clock.now()) ? metadataOf(application, baseUrl) : undefined;
}

type Documented = Application & { readonly metadataDocument: MetadataDocument | null };

/** Whether there is such an application. One whose document has gone is not there any more. */
const isThere = <Row extends Documented>(row: Row | null, now: Date): row is Row =>
  row !== null &&
  (row.origin !== 'METADATA_DOCUMENT' ||
    (row.metadataDocument !== null && goneAt(row.metadataDocument) > now));

/**
 * Like {@link findClientMetadata}, with what a confidential client authenticates by. One statement runs whether or not
 * the application exists, so the time reveals nothing.
 */
export async function findClient(
  { database, clock, baseUrl }: Store,
  clientId: string,
): Promise<{ metadata: ClientMetadata | undefined } & KnownCredentials> {
  const application = await database.prisma.application.findUnique({
    where: { id: idForQuery(clientId, 'Application') ?? '' },
    include: {
      metadataDocument: true,
      secrets: { where: liveAt(clock.now()), select: { digest: true } },
    },
  });
  if (!application) {
    return { metadata: undefined, secrets: [], ...noKeys };
  }
  const { type, allowSecrets, secrets } = application;
  const isCounted = isConfidential(type) && allowSecrets;
  return {
    metadata: isThere(application, clock.now()) ? metadataOf(application, baseUrl) : undefined,
    secrets: isCounted ? secrets.map(inHexadecimal) : [],
    jwks: application.jwks,
    jwksUri: application.jwksUri,
    keySetterScopes: application.keySetterScopes,
    securityProfile: application.securityProfile,
  };
}

const noKeys = { jwks: null, jwksUri: null, keySetterScopes: null, securityProfile: null };
const liveAt = (now: Date) => ({ OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] });
const inHexadecimal = ({ digest }: { digest: Uint8Array }) => Buffer.from(digest).toString('hex');

/**
 * How clients authenticate at the library (RFC 7591 §2); `none` is for those without a secret. An assertion is checked
 * before, see `authenticated-client.ts`.
 */
export const libraryAuthMethods = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/** How clients authenticate. */
export const clientAuthMethods = [...libraryAuthMethods, 'private_key_jwt'] as const;

/** Whether a client has no secret to prove itself with; as metadata, or as the library holds it. */
export const isPublicClient = (
  client: ClientMetadata | { readonly clientAuthMethod?: string | undefined },
): boolean =>
  ('token_endpoint_auth_method' in client
    ? client.token_endpoint_auth_method
    : client.clientAuthMethod) === 'none';

function metadataOf(application: Application, baseUrl: string): ClientMetadata {
  const { type, id } = application;
  const builtInUri = builtInRedirectUri(id, baseUrl);
  const redirectUris = builtInUri === undefined ? application.redirectUris : [builtInUri];
  const hasUsers = type !== 'MACHINE_TO_MACHINE';
  const canSignIn = hasUsers && redirectUris.length > 0;
  return {
    client_id: application.id,
    client_name: application.name,
    ...(application.idTokenSigningAlg
      ? { id_token_signed_response_alg: application.idTokenSigningAlg as SigningAlgorithm }
      : {}),
    application_type: type === 'NATIVE' ? 'native' : 'web',
    ...(isConfidential(type)
      ? { token_endpoint_auth_method: 'client_secret_basic', client_secret: placeholderSecret }
      : { token_endpoint_auth_method: 'none' }),
    grant_types: [
      ...(canSignIn ? ['authorization_code'] : []),
      ...(hasUsers ? ['refresh_token'] : []),
      ...(hasUsers && application.allowDeviceGrant ? [deviceGrantType] : []),
    ],
    response_types: canSignIn ? ['code'] : [],
    redirect_uris: canSignIn ? redirectUris : [],
    post_logout_redirect_uris: hasUsers ? application.postLogoutRedirectUris : [],
    dpop_bound_access_tokens: application.requireDpop,
    require_pushed_authorization_requests: application.requirePushedAuthorizationRequests,
    [requirePkce]: application.requirePkce,
    [securityProfile]: application.securityProfile,
    is_third_party: application.isThirdParty,
    setter_scopes: application.setterScopes,
    ...(application.metadataUrl === null ? {} : { [ownId]: application.metadataUrl }),
    [corsAllowedOrigins]: [
      ...application.corsAllowedOrigins,
      // The redirect ends on the page whose script then requests the tokens.
      ...(type === 'SPA' ? redirectUris.flatMap(originOf) : []),
    ],
  };
}

const originOf = (uri: string) => (URL.canParse(uri) ? [new URL(uri).origin] : []);
