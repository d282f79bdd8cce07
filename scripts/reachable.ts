// Exits with 0 if a database can be created on the PostgreSQL of TEST_DATABASE_URL.
import pg from 'pg';

const client = new pg.Client({
  connectionString: process.env['TEST_DATABASE_URL'],
  connectionTimeoutMillis: 5_000,
});
try {
  await client.connect();
  const { rows } = await client.query(
    'SELECT rolcreatedb OR rolsuper AS "may" FROM pg_roles WHERE rolname = current_user',
  );
  process.exitCode = rows[0]?.may ? 0 : 1;
} catch {
  process.exitCode = 1;
} finally {
  await client.end();
}
