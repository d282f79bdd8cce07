import { randomBytes } from 'node:crypto';
import type { ClientMetadata, KoaContextWithOIDC, SigningAlgorithm } from 'oidc-provider';
import { ownRedirectUri } from '../../../applications/own.ts';
import { isConfidential } from '../../../applications/secret.ts';
import type { Application } from '../../../generated/prisma/client.ts';
import { idForQuery } from '../../../ids.ts';
import type { Services } from '../../../services.ts';
import type { ConsentRequest } from '../../consent/asked.ts';

type Client = NonNullable<KoaContextWithOIDC['oidc']['client']>;
type Store = Pick<Services, 'database' | 'clock' | 'baseUrl'>;

/** The client metadata with the origins whose scripts may call as this application. */
export const corsAllowedOrigins = 'cors_allowed_origins';

/** The client metadata on consent: see the columns of Application. */
export const consentMetadata = ['is_third_party', 'management_without_consent'] as const;

/** A client of the library as the questions about consent take it. */
export const applicationOf = (client: Client): ConsentRequest['application'] => ({
  id: client.clientId,
  type: client.applicationType === 'native' ? 'NATIVE' : 'TRADITIONAL',
  isThirdParty: client['is_third_party'] === true,
  managementWithoutConsent: client['management_without_consent'] === true,
});

// oidc-provider requires a secret for every confidential client, but never compares this one.
const placeholderSecret = randomBytes(32).toString('base64url');

/** An application as oidc-provider's client metadata (RFC 7591 §2), read on every call; undefined if there is none. */
export async function findClientMetadata(
  { database, baseUrl }: Pick<Store, 'database' | 'baseUrl'>,
  clientId: string,
): Promise<ClientMetadata | undefined> {
  const id = idForQuery(clientId, 'Application');
  if (id === null) return undefined;
  const application = await database.prisma.application.findUnique({ where: { id } });
  return application ? metadataOf(application, baseUrl) : undefined;
}

/**
 * Like {@link findClientMetadata}, with the SHA-256 of each live secret in hexadecimal. One statement runs whether or
 * not the application exists, so the time reveals nothing.
 */
export async function findClient(
  { database, clock, baseUrl }: Store,
  clientId: string,
): Promise<{ metadata: ClientMetadata | undefined; digests: string[] }> {
  const application = await database.prisma.application.findUnique({
    where: { id: idForQuery(clientId, 'Application') ?? '' },
    include: { secrets: { where: liveAt(clock.now()), select: { digest: true } } },
  });
  return {
    metadata: application ? metadataOf(application, baseUrl) : undefined,
    digests: application?.secrets.map(inHexadecimal) ?? [],
  };
}

const liveAt = (now: Date) => ({ OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] });
const inHexadecimal = ({ digest }: { digest: Uint8Array }) => Buffer.from(digest).toString('hex');

/** How clients authenticate (RFC 7591 §2); `none` is for those without a secret. */
export const clientAuthMethods = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/** Whether a client has no secret to prove itself with; as metadata, or as the library holds it. */
export const isPublicClient = (
  client: ClientMetadata | { readonly clientAuthMethod?: string | undefined },
): boolean =>
  ('token_endpoint_auth_method' in client
    ? client.token_endpoint_auth_method
    : client.clientAuthMethod) === 'none';

function metadataOf(application: Application, baseUrl: string): ClientMetadata {
  const { type, id } = application;
  const own = ownRedirectUri(id, baseUrl);
  const redirectUris = own === undefined ? application.redirectUris : [own];
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
    ],
    response_types: canSignIn ? ['code'] : [],
    redirect_uris: canSignIn ? redirectUris : [],
    post_logout_redirect_uris: hasUsers ? application.postLogoutRedirectUris : [],
    is_third_party: application.isThirdParty,
    management_without_consent: application.managementWithoutConsent,
    [corsAllowedOrigins]: [
      ...application.corsAllowedOrigins,
      // The redirect ends on the page whose script then requests the tokens.
      ...(type === 'SPA' ? redirectUris.flatMap(originOf) : []),
    ],
  };
}

const originOf = (uri: string) => (URL.canParse(uri) ? [new URL(uri).origin] : []);

/** The SHA-256 of each live secret of an application, in hexadecimal. */
export async function readLiveDigests(
  { database, clock }: Pick<Store, 'database' | 'clock'>,
  applicationId: string,
): Promise<string[]> {
  const secrets = await database.prisma.applicationSecret.findMany({
    where: { applicationId, ...liveAt(clock.now()) },
    select: { digest: true },
  });
  return secrets.map(inHexadecimal);
}
