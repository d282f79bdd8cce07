import { applications } from '../../applications/payload.ts';
import { lockName, lockRow } from '../../db/lock.ts';
import type { Told } from '../../db/told.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { recordChange } from '../../events/record.ts';
import type { Application, MetadataDocument } from '../../generated/prisma/client.ts';
import { takeShare } from '../../protection/addresses.ts';
import { readServiceSettings } from '../../service-settings/settings.ts';
import { type Context, type RequestCall, type Services, systemActor } from '../../services.ts';
import { revokeGrantsOf } from '../consent/operations.ts';
import { MetadataFault } from './client-metadata.ts';
import {
  DocumentMissing,
  faultOfClientIdUrl,
  fetchDocument,
  type ReadDocument,
} from './fetch-document.ts';
import { createDescribed } from './register.ts';

/** Why a URL is not accepted as a client id: text for the developer of the client. */
export class ClientIdRefused extends Error {
  override readonly name = 'ClientIdRefused';
}

const graceMs = 24 * 60 * 60 * 1000;
const failureMs = 10_000;
const maxFailures = 1_000;

/** When a document counts as gone that is not answered any more. */
export const goneAt = ({ freshUntil }: Pick<MetadataDocument, 'freshUntil'>): Date =>
  new Date(freshUntil.getTime() + graceMs);

interface Known {
  /** What is being read at this moment, by URL. */
  readonly underWay: Map<string, Promise<string>>;
  /** What could not be read, by URL. */
  readonly failed: Map<string, { readonly until: number; readonly error: ClientIdRefused }>;
}

// A process reads a document once for all who wait for it. Keyed by what each service has of its own.
const knownOf = new WeakMap<Services['cipher'], Known>();

type Asking = Services & RequestCall;

/**
 * Finds the application that a client id names which is the URL of a metadata document. The document is read if it is
 * not fresh; if that is new or says something else, the application is created or changed. Raises
 * `Application.Created`, or `Application.Data.Updated` and, for each person whose consent a lost redirect URI ends,
 * `User.Grant.Revoked`.
 *
 * @returns The application's id.
 * @throws {ClientIdRefused}
 * @see https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/02/
 */
export async function resolveDocument(asking: Asking, url: string): Promise<string> {
  const { clientRegistration: policy } = await readServiceSettings(asking.database.prisma);
  const fault = faultOfClientIdUrl(url, asking.config);
  if (fault !== undefined) throw new ClientIdRefused(`client_id is refused: ${fault}`);
  const isTaken =
    policy.metadataDocuments === 'ANY' ||
    (policy.metadataDocuments === 'LISTED' && policy.metadataHosts.includes(new URL(url).hostname));
  if (!isTaken) throw new ClientIdRefused('client_id is refused: documents there are not read');

  const application = await asking.database.prisma.application.findUnique({
    where: { metadataUrl: url },
    include: { metadataDocument: true },
  });
  const document = application?.metadataDocument;
  const now = asking.clock.now();
  if (document && document.freshUntil > now) return document.applicationId;
  try {
    return await readOnce(asking, url);
  } catch (error) {
    const isGood = document && goneAt(document) > now && error instanceof NotRead;
    if (isGood) return document.applicationId;
    throw error;
  }
}

/** The document could not be read. It may be there all the same, or be there again. */
class NotRead extends ClientIdRefused {}

async function readOnce(asking: Asking, url: string): Promise<string> {
  const { cipher, clock } = asking;
  const known: Known = knownOf.get(cipher) ?? { underWay: new Map(), failed: new Map() };
  knownOf.set(cipher, known);
  const failure = known.failed.get(url);
  if (failure && failure.until > clock.now().getTime()) throw failure.error;
  const reading =
    known.underWay.get(url) ??
    read(asking, url)
      .catch((error: unknown) => {
        if (!(error instanceof ClientIdRefused) || error instanceof TooMany) throw error;
        if (known.failed.size >= maxFailures) known.failed.clear();
        known.failed.set(url, { until: clock.now().getTime() + failureMs, error });
        throw error;
      })
      .finally(() => known.underWay.delete(url));
  known.underWay.set(url, reading);
  return reading;
}

/** The address of the client has had as many documents read as it may. Another one has not. */
class TooMany extends NotRead {}

async function read(asking: Asking, url: string): Promise<string> {
  if ((await takeShare(asking, 'document', asking.ip)) !== undefined)
    throw new TooMany('client_id is refused: too many documents were asked for; try again later');
  try {
    const found = await fetchDocument(asking, url);
    return await transaction(asking.database, (tx) =>
      keep(tx, { ...asking, actor: systemActor }, url, found),
    );
  } catch (error) {
    if (error instanceof DocumentMissing) {
      asking.log.info(
        { err: error, host: new URL(url).hostname },
        'a client document was not read',
      );
      throw new NotRead(`client_id is refused: ${error.message}`);
    }
    if (error instanceof MetadataFault)
      throw new ClientIdRefused(
        `client_id is refused: its document is not accepted: ${error.message}`,
      );
    throw error;
  }
}

async function keep(
  tx: Transaction,
  context: Context,
  url: string,
  { described, freshMs }: ReadDocument,
): Promise<Told<string>> {
  // Another node may be doing the same.
  await lockName(tx, `signet:metadata-document:${url}`);
  const found = await tx.application.findUnique({ where: { metadataUrl: url } });
  const now = context.clock.now();
  const told = found
    ? await change(tx, context, found.id, described)
    : await create(tx, context, url, described);
  const times = { readAt: now, freshUntil: new Date(now.getTime() + freshMs) };
  const applicationId = told.result;
  await tx.metadataDocument.upsert({
    where: { applicationId },
    create: { applicationId, ...times },
    update: times,
  });
  return told;
}

async function create(
  tx: Transaction,
  context: Context,
  metadataUrl: string,
  described: ReadDocument['described'],
): Promise<Told<string>> {
  const from = { origin: 'METADATA_DOCUMENT', metadataUrl } as const;
  const told = await createDescribed(tx, context, described, from);
  return told.with(told.result.id);
}

async function change(
  tx: Transaction,
  context: Context,
  id: string,
  described: ReadDocument['described'],
): Promise<Told<string>> {
  await lockRow(tx, 'Application', id);
  const before: Application = await tx.application.findUniqueOrThrow({ where: { id } });
  const told = await recordChange(tx, context, applications, before, described);
  // Whoever has the address now that people were sent to was not who they allowed something.
  const hasLost = before.redirectUris.some((uri) => !described.redirectUris.includes(uri));
  if (!hasLost) return told.with(id);
  const revoked = await revokeGrantsOf(tx, context, id);
  return revoked.with(told.with(id).result);
}
