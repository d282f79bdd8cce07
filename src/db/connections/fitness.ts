import type pg from 'pg';

/** What a server has, and what a role may do there, as far as the service needs it. */
export interface Fitness {
  /** The major version. */
  readonly version: number;
  readonly versionText: string;
  /** The encoding in which the database holds text. */
  readonly encoding: string;
  /** Where tables are made; null if the role may use none of the schemas of its `search_path`. */
  readonly schema: string | null;
  /** Whether the role may make extensions and schemas in the database. */
  readonly mayCreate: boolean;
  readonly mayCreateTables: boolean;
  /** The tables in the schema that another role owns. */
  readonly foreignTables: number;
  /** The version of pg_trgm that is installed. */
  readonly trigram: string | null;
  readonly canTrigram: boolean;
  /** The connections that the role may have at once, whoever has them now. */
  readonly connections: number;
}

/** What is wrong, in one sentence, and what to do. */
export interface Obstacle {
  readonly message: string;
  readonly advice: string;
}

/** What is missing. */
export interface Lack extends Obstacle {
  readonly of: 'version' | 'encoding' | 'schema' | 'rights' | 'extensions';
}

const leastVersion = 15;
// Prisma names it in every statement.
const ownSchema = 'public';

/** Reads {@link Fitness} over a connection. */
export async function fitnessOf(client: pg.Client): Promise<Fitness> {
  const { rows } = await client.query<Fitness>(`
    SELECT current_setting('server_version_num')::int / 10000 AS "version",
           current_setting('server_version') AS "versionText",
           current_setting('server_encoding') AS "encoding",
           current_schema() AS "schema",
           has_database_privilege(d."oid", 'CREATE') AS "mayCreate",
           coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreateTables",
           (SELECT count(*)::int FROM pg_class
             WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
               AND NOT pg_has_role(relowner, 'USAGE')) AS "foreignTables",
           (SELECT extversion FROM pg_extension WHERE extname = 'pg_trgm') AS "trigram",
           EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') AS "canTrigram",
           least(
             current_setting('max_connections')::int
               - CASE WHEN r."rolsuper" THEN 0
                      ELSE current_setting('superuser_reserved_connections')::int
                        -- From PostgreSQL 16 on.
                        + coalesce(current_setting('reserved_connections', true)::int, 0) END,
             CASE WHEN NOT r."rolsuper" AND d."datconnlimit" >= 0 THEN d."datconnlimit" END,
             CASE WHEN NOT r."rolsuper" AND r."rolconnlimit" >= 0 THEN r."rolconnlimit" END
           ) AS "connections"
      FROM pg_database d, pg_roles r
     WHERE d."datname" = current_database() AND r."rolname" = session_user`);
  const [fitness] = rows;
  if (!fitness) throw new Error('The session has a database and a role.');
  return fitness;
}

/** What a database lacks to hold the service at all. */
export function lacksOfHolding({ version, versionText, encoding, schema }: Fitness): Lack[] {
  const lacks: Lack[] = [];
  if (version < leastVersion) {
    lacks.push({
      of: 'version',
      message: `PostgreSQL ${versionText} is too old.`,
      advice: `Use PostgreSQL ${leastVersion} or later.`,
    });
  }
  if (encoding !== 'UTF8') {
    lacks.push({
      of: 'encoding',
      message: `The database holds text in ${encoding}.`,
      advice: 'Create it with ENCODING ’UTF8’, and restore a dump into it.',
    });
  }
  // Without a schema, the rights say so.
  if (schema !== null && schema !== ownSchema) {
    lacks.push({
      of: 'schema',
      message: `The role's tables would be in the schema ${schema}, and the service uses the schema ${ownSchema} alone.`,
      advice: `Give it a database of its own, and let search_path begin with ${ownSchema}: ALTER ROLE … SET search_path = ${ownSchema}.`,
    });
  }
  return lacks;
}

/** What a role lacks to migrate the database. */
export function lacksOfMigrating(fitness: Fitness): Lack[] {
  const lacks: Lack[] = [];
  const lacking = [
    ...(fitness.mayCreateTables ? [] : ['may not create tables in its schema']),
    ...(fitness.foreignTables > 0
      ? [`does not own ${fitness.foreignTables} of the tables there`]
      : []),
  ];
  if (lacking.length > 0) {
    lacks.push({
      of: 'rights',
      message: `The role ${lacking.join(', and ')}: migrations would fail.`,
      advice:
        'Let the role own the database and its tables: ALTER DATABASE … OWNER TO …, REASSIGN OWNED BY … TO ….',
    });
  }
  if (fitness.trigram === null && !(fitness.canTrigram && fitness.mayCreate)) {
    lacks.push({
      of: 'extensions',
      message: fitness.canTrigram
        ? 'pg_trgm is missing, and the role may not install it.'
        : 'pg_trgm is missing, and this server does not have it.',
      advice: fitness.canTrigram
        ? 'As a superuser, in this database: CREATE EXTENSION pg_trgm, or GRANT CREATE ON DATABASE … TO ….'
        : 'Install PostgreSQL’s contrib modules (Debian: they are in the package of the server).',
    });
  }
  return lacks;
}

/**
 * The connections that a process has beside its pools: to listen, to ask whether the database answers, for the sink, and
 * to migrate.
 */
export const connectionsBeside = 4;
// A transaction may look something up beside itself.
const leastPools = { poolSize: 2, tokenPoolSize: 1 };

/** The sizes of a process's pools. */
export interface PoolSizes {
  readonly poolSize: number;
  readonly tokenPoolSize: number;
}

/**
 * Makes the pools of each process so small that all processes fit into the connections that the role may have.
 *
 * @param processes How many there are.
 * @param beside The connections that each of them has beside its pools.
 * @returns The sizes; those that were asked for, if they fit. Or the connections that are needed at least.
 */
export function poolsWithin(
  connections: number,
  { poolSize, tokenPoolSize }: PoolSizes,
  processes: number,
  beside: number,
): PoolSizes | { readonly least: number } {
  const room = Math.floor(connections / processes) - beside;
  if (poolSize + tokenPoolSize <= room) return { poolSize, tokenPoolSize };
  const least = leastPools.poolSize + leastPools.tokenPoolSize;
  if (room < least) return { least: processes * (least + beside) };
  const share = Math.floor((room * tokenPoolSize) / (poolSize + tokenPoolSize));
  const forTokens = Math.min(
    Math.max(share, leastPools.tokenPoolSize),
    room - leastPools.poolSize,
    tokenPoolSize,
  );
  return { tokenPoolSize: forTokens, poolSize: Math.min(room - forTokens, poolSize) };
}
