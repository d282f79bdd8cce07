import { z } from 'zod';
import { faultOfRedirectUri } from '../../applications/settings.ts';
import type { Application } from '../../generated/prisma/client.ts';
import { distinct, name, text } from '../../input.ts';

/** What an application says of itself (RFC 7591 §2), as far as it is kept. */
export type Described = Pick<
  Application,
  'name' | 'type' | 'redirectUris' | 'postLogoutRedirectUris'
>;

/** Why metadata is refused: an error code of RFC 7591 §3.2.2, and a text that names the member. */
export class MetadataFault extends Error {
  override readonly name = 'MetadataFault';
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(code: MetadataFault['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const uris = distinct(text(2048), 100);
// A name is shown to people: nothing in it may hide, or turn around what follows.
const shownName = name().refine(
  (value) => !/\p{C}/u.test(value),
  'must hold no control characters',
);
const metadata = z.object({
  client_name: shownName.optional(),
  application_type: z.enum(['web', 'native']).optional(),
  redirect_uris: uris.refine((all) => all.length > 0, 'must not be empty'),
  post_logout_redirect_uris: uris.optional(),
  // Keys are not taken here yet, and a secret would be no secret.
  token_endpoint_auth_method: z.literal('none', 'must be none').optional(),
  grant_types: z
    .array(z.string())
    .refine((types) => types.includes('authorization_code'), 'must hold authorization_code')
    .optional(),
  response_types: z
    .array(z.string())
    .refine((types) => types.includes('code'), 'must hold code')
    .optional(),
  client_secret: z.undefined('must be absent').optional(),
  client_secret_expires_at: z.undefined('must be absent').optional(),
});

const loopbacks: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const isOfDevice = (uri: string) => {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' ? loopbacks.has(hostname) : protocol !== 'https:';
};

/**
 * Reads the metadata of a public client that nobody vouches for. Members that are not kept are ignored, as RFC 7591 §2
 * says.
 *
 * @param fallbackName The name of one that has none.
 * @throws {MetadataFault}
 */
export function readClientMetadata(given: unknown, fallbackName: string): Described {
  const parsed = metadata.safeParse(given);
  if (!parsed.success) {
    const { path = [], message = '' } = parsed.error.issues[0] ?? {};
    const [member = 'the document'] = path.map(String);
    throw new MetadataFault(
      member === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata',
      `${member}: ${message}`,
    );
  }
  const { redirect_uris: redirectUris, post_logout_redirect_uris: after = [] } = parsed.data;
  for (const uri of [...redirectUris, ...after])
    if (!URL.canParse(uri) || uri.includes('#'))
      throw new MetadataFault(
        'invalid_redirect_uri',
        'redirect_uris: must be absolute URIs without a fragment',
      );
  const kind = parsed.data.application_type ?? (redirectUris.some(isOfDevice) ? 'native' : 'web');
  const type = kind === 'native' ? 'NATIVE' : 'SPA';
  for (const uri of [...redirectUris, ...after]) {
    const { protocol, username, password } = new URL(uri);
    const fault =
      faultOfRedirectUri(type, uri) ??
      (protocol === 'http:' && !isOfDevice(uri)
        ? 'must be an https URL, or lead to the device itself'
        : undefined) ??
      (username || password ? 'must not hold credentials' : undefined);
    if (fault) throw new MetadataFault('invalid_redirect_uri', `redirect_uris: ${fault}`);
  }
  return {
    name: parsed.data.client_name ?? fallbackName,
    type,
    redirectUris,
    postLogoutRedirectUris: after,
  };
}
