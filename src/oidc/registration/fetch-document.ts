import { createAgent } from '../../outbound/agent.ts';
import { lifetimeOf } from '../../outbound/documents.ts';
import { guardedFetch } from '../../outbound/fetch.ts';
import type { Services } from '../../services.ts';
import { type Described, MetadataFault, readClientMetadata } from './client-metadata.ts';

const timeoutMs = 5_000;
const maxBytes = 16 * 1024;
// PostgreSQL has an index of the URLs.
const maxUrlLength = 2048;

/** A document that was read. */
export interface ReadDocument {
  readonly described: Described;
  /** How long it need not be read again, in milliseconds. */
  readonly freshMs: number;
}

/** A document is not there, or cannot be reached: what was read before may still be good. */
export class DocumentMissing extends Error {
  override readonly name = 'DocumentMissing';
}

/**
 * Why a URL is no client id; undefined if it is one. Only one spelling of a URL is: other spellings would be other
 * clients with the same document (client id metadata document §3).
 */
export function faultOfClientIdUrl(
  url: string,
  { allowPrivateWebhooks: allowPrivate }: Pick<Services['config'], 'allowPrivateWebhooks'>,
): string | undefined {
  if (url.length > maxUrlLength) return `it must have at most ${maxUrlLength} characters`;
  if (!URL.canParse(url)) return 'it is no URL';
  const { protocol, href, hostname, username, password } = new URL(url);
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:')) return 'it must be https';
  if (url.includes('#')) return 'it must have no fragment';
  if (username || password) return 'it must hold no credentials';
  if (href !== url || hostname.endsWith('.'))
    return 'it must be written in its normal form, with a path and without dot segments';
  return undefined;
}

/**
 * Reads the metadata document at a URL: 200 alone, no redirects, at most 16 KiB, within 5 s, from public addresses.
 *
 * @throws {DocumentMissing} {@link MetadataFault} when it does not describe a client of this id.
 */
export async function fetchDocument(
  { config, resolveHost, clock }: Pick<Services, 'config' | 'resolveHost' | 'clock'>,
  url: string,
): Promise<ReadDocument> {
  const agent = createAgent({
    allowPrivate: config.allowPrivateWebhooks,
    resolveHost,
    timeoutMs,
  });
  try {
    const fetchOnce = guardedFetch(agent, { timeoutMs, maxBytes });
    const response = await fetchOnce(url, { headers: { accept: 'application/json' } }).catch(
      (cause: unknown) => {
        // What exactly failed would tell strangers about this network.
        throw new DocumentMissing('the document cannot be fetched', { cause });
      },
    );
    if (response.status !== 200)
      throw new DocumentMissing('the document is not answered with status 200');
    const document = parse(await response.text());
    if (document['client_id'] !== url)
      throw new MetadataFault('invalid_client_metadata', 'client_id: must be the document’s URL');
    return {
      described: readClientMetadata(document, new URL(url).hostname),
      freshMs: lifetimeOf(response.headers, clock.now()),
    };
  } finally {
    await agent.destroy();
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new MetadataFault('invalid_client_metadata', 'the document is no JSON object');
}
