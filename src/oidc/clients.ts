import { randomBytes } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import type { Services } from '../auth/context.ts';
import type { Application } from '../generated/prisma/client.ts';
import { idForQuery } from './target.ts';

type Store = Pick<Services, 'database' | 'clock'>;

/** The client metadata that lists the origins whose scripts may call on an application's behalf. */
export const corsAllowedOrigins = 'cors_allowed_origins';

// oidc-provider wants a secret of every confidential client and is never asked to compare this one.
const placeholderSecret = randomBytes(32).toString('base64url');

/** An application as oidc-provider knows its clients (RFC 7591 §2), read anew each time; undefined where none is. */
export async function findClientMetadata(
  { database }: Store,
  clientId: string,
): Promise<ClientMetadata | undefined> {
  const id = idForQuery(clientId, 'Application');
  if (id === null) return undefined;
  const application = await database.prisma.application.findUnique({ where: { id } });
  return application ? metadataOf(application) : undefined;
}

const isConfidential = (type: Application['type']): boolean =>
  type === 'TRADITIONAL' || type === 'MACHINE_TO_MACHINE';

function metadataOf(application: Application): ClientMetadata {
  const { type } = application;
  const hasUsers = type !== 'MACHINE_TO_MACHINE';
  const canSignIn = hasUsers && application.redirectUris.length > 0;
  return {
    client_id: application.id,
    client_name: application.name,
    application_type: type === 'NATIVE' ? 'native' : 'web',
    ...(isConfidential(type)
      ? { token_endpoint_auth_method: 'client_secret_basic', client_secret: placeholderSecret }
      : { token_endpoint_auth_method: 'none' }),
    grant_types: [
      ...(canSignIn ? ['authorization_code'] : []),
      ...(hasUsers ? ['refresh_token'] : []),
    ],
    response_types: canSignIn ? ['code'] : [],
    redirect_uris: canSignIn ? application.redirectUris : [],
    post_logout_redirect_uris: hasUsers ? application.postLogoutRedirectUris : [],
    [corsAllowedOrigins]: [
      ...application.corsAllowedOrigins,
      // The redirect ends in the page whose script comes for the tokens.
      ...(type === 'SPA' ? application.redirectUris.flatMap(originOf) : []),
    ],
  };
}

const originOf = (uri: string) => (URL.canParse(uri) ? [new URL(uri).origin] : []);

/** SHA-256 of each of an application's live secrets, in hexadecimal. */
export async function readLiveDigests(
  { database, clock }: Store,
  applicationId: string,
): Promise<string[]> {
  const secrets = await database.prisma.applicationSecret.findMany({
    where: { applicationId, OR: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }] },
    select: { digest: true },
  });
  return secrets.map(({ digest }) => Buffer.from(digest).toString('hex'));
}
