import type pg from 'pg';

/** A value of each type for row `n`: another one in each row where the type has as many. */
const valueByType: Readonly<Record<string, string>> = {
  bigint: 'n',
  boolean: 'false',
  bytea: `decode(md5(n::text), 'hex')`,
  integer: 'n',
  jsonb: `'{}'`,
  pg_snapshot: `'3:3:'`,
  text: 'md5(n::text)',
  'text[]': 'ARRAY[md5(n::text)]',
  'timestamp with time zone': 'now()',
  xid8: 'n::text::xid8',
};

/** What a check wants to be empty. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  Verification: ['userId', 'session'],
};

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly firstLabel: string | null;
}

/**
 * Puts rows into tables that nobody has to make sense of: references lead nowhere, and no trigger runs. A table whose
 * key cannot have as many values gets fewer.
 *
 * @param tables Every table, if absent.
 */
export async function fillTables(
  client: pg.Client,
  rows: number,
  tables?: readonly string[],
): Promise<void> {
  const { rows: columns } = await client.query<Column>(`
    SELECT c.relname AS "table", attname AS "name", format_type(atttypid, NULL) AS "type",
           (SELECT enumlabel FROM pg_enum WHERE enumtypid = atttypid ORDER BY enumsortorder LIMIT 1) AS "firstLabel"
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
           LEFT JOIN pg_attrdef d ON d.adrelid = attrelid AND d.adnum = attnum
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> '_prisma_migrations'
       AND attnum > 0 AND NOT attisdropped
       AND coalesce(pg_get_expr(adbin, adrelid) !~ '^(nextval|pg_current_xact_id)', true)
     ORDER BY c.relname, attnum`);
  await client.query('SET session_replication_role = replica');
  for (const [table, all = []] of Map.groupBy(columns, (column) => column.table)) {
    if (tables && !tables.includes(table)) continue;
    const set = all.filter(({ name }) => !leftOut[table]?.includes(name));
    const values = set.map(({ name, type, firstLabel }) => {
      const value = firstLabel === null ? valueByType[type] : `'${firstLabel}'::${type}`;
      if (value === undefined) throw new Error(`No value is known for ${table}.${name}, ${type}.`);
      return value;
    });
    await client.query(`
      INSERT INTO "${table}" (${set.map(({ name }) => `"${name}"`).join(', ')})
      SELECT ${values.join(', ')} FROM generate_series(1, ${rows}) AS n ON CONFLICT DO NOTHING`);
  }
  await client.query('RESET session_replication_role');
}
