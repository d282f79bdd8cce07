import type { Database } from '../db/database.ts';
import { quietTransaction } from '../db/transaction.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Sealing } from '../keys/cipher.ts';
import { type Purpose, purposeOf, sealedColumns } from '../keys/sealed-columns.ts';
import type { Services } from '../services.ts';

// A batch locks its rows: small, so that nobody waits for long.
const batchSize = 200;
// What one statement reads at most, of a table that may be large: 64 MiB.
const pagesAtOnce = 8_192;

interface Found {
  /** Where the row is in its table. */
  readonly page: number;
  readonly item: number;
  readonly owner: string;
  readonly sealed: Uint8Array;
}

type Kind = keyof typeof sealedColumns;
const kinds = Object.keys(sealedColumns) as Kind[];

type Client = Pick<Database['prisma'], '$queryRaw'>;

/** How far a look at a table has come, and where it ends. */
interface Place {
  readonly page: number;
  /** The row of that page after which it goes on. */
  readonly item: number;
  readonly pages: number;
}

async function beginningOf({ prisma }: Pick<Database, 'prisma'>, kind: Kind): Promise<Place> {
  const name = `"${sealedColumns[kind].table}"`;
  const [row] = await prisma.$queryRaw<{ pages: number }[]>`
    SELECT (pg_relation_size(${name}::regclass) / current_setting('block_size')::int)::int AS "pages"`;
  return { page: 0, item: 0, pages: row?.pages ?? 0 };
}

/**
 * Reads the next values of a kind that do not name the first secret. No column of ciphertexts has an index, so it goes
 * by the place in the table. What a batch has rewritten moves to another place, and names its secret there.
 */
function readOthers(
  client: Client,
  { first }: Sealing,
  kind: Kind,
  { page, item }: Place,
  lock = Prisma.empty,
): Promise<Found[]> {
  const { table, column, owner } = sealedColumns[kind];
  const sealed = Prisma.raw(`"${column}"`);
  const [from, to] = [`(${page},${item})`, `(${page + pagesAtOnce},0)`];
  return client.$queryRaw<Found[]>`
    SELECT (ctid::text::point)[0]::int AS "page", (ctid::text::point)[1]::int AS "item",
           ${owner} AS "owner", ${sealed} AS "sealed"
      FROM ${Prisma.raw(`"${table}"`)}
     WHERE ctid > ${from}::tid AND ctid < ${to}::tid AND ${sealed} IS NOT NULL
       AND substring(${sealed} FROM 1 FOR ${first.prefix.length}::int) <> ${first.prefix}::bytea
     LIMIT ${batchSize} ${lock}`;
}

/** Where it goes on after a batch; undefined at the end of the table. */
function placeAfter({ page, pages }: Place, found: readonly Found[]): Place | undefined {
  const last = found.toSorted((a, b) => a.page - b.page || a.item - b.item).at(-1);
  if (last && found.length === batchSize) return { page: last.page, item: last.item, pages };
  const next = page + pagesAtOnce;
  // The first place of a page is the one after its start.
  return next < pages ? { page: next, item: 0, pages } : undefined;
}

/** Encrypts anew, with the first secret, what another one encrypted. Nodes may do so side by side. */
export async function rewriteAll(
  services: Pick<Services, 'database' | 'cipher' | 'log'>,
  stopped: AbortSignal,
): Promise<void> {
  for (const kind of kinds) {
    let place: Place | undefined = await beginningOf(services.database, kind);
    while (place && !stopped.aborted) place = await rewriteAfter(services, kind, place);
  }
}

async function rewriteAfter(
  { database, cipher, log }: Pick<Services, 'database' | 'cipher' | 'log'>,
  kind: Kind,
  place: Place,
): Promise<Place | undefined> {
  const { table, column } = sealedColumns[kind];
  const { found, count } = await quietTransaction(database, async (tx) => {
    const lock = Prisma.sql`FOR UPDATE SKIP LOCKED`;
    const found = await readOthers(tx, cipher, kind, place, lock);
    const anew = found.flatMap(({ page, item, owner, sealed }) => {
      const purpose = purposeOf(kind, owner);
      if (!cipher.secretOf(sealed, purpose)) return [];
      const again = cipher.encrypt(cipher.decrypt(sealed, purpose), purpose);
      return [{ at: `(${page},${item})`, sealed: Buffer.from(again).toString('base64') }];
    });
    if (anew.length > 0)
      await tx.$executeRaw`
        UPDATE ${Prisma.raw(`"${table}"`)} AS r
           SET ${Prisma.raw(`"${column}"`)} = decode(a."sealed", 'base64')
          FROM unnest(${anew.map(({ at }) => at)}::text[], ${anew.map(({ sealed }) => sealed)}::text[])
               AS a ("at", "sealed")
         WHERE r.ctid = a."at"::tid`;
    return { found, count: anew.length };
  });
  if (count > 0) log.debug({ table, count }, 'values encrypted anew');
  return placeAfter(place, found);
}

/** What the first secret did not encrypt. */
export interface Left {
  readonly table: Prisma.ModelName;
  /** Whether one of the two secrets opens it. */
  readonly isReadable: boolean;
}

/** Finds what the first secret did not encrypt, or did without its name. */
export async function* findLeft(
  database: Pick<Database, 'prisma'>,
  sealing: Sealing,
): AsyncGenerator<Left> {
  for (const kind of kinds) {
    const { table } = sealedColumns[kind];
    let place: Place | undefined = await beginningOf(database, kind);
    while (place) {
      const found: Found[] = await readOthers(database.prisma, sealing, kind, place);
      for (const { sealed, owner } of found) {
        const purpose: Purpose = purposeOf(kind, owner);
        yield { table, isReadable: sealing.secretOf(sealed, purpose) !== undefined };
      }
      place = placeAfter(place, found);
    }
  }
}
