import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

// What the last release left; scripts/keep-release.ts writes it. Benches use it too: nothing here comes from vitest.
const folder = new URL('../../fixtures/release/', import.meta.url);

/** The release: its commit, its secret, and the records that it made. */
export const release = JSON.parse(readFileSync(new URL('release.json', folder), 'utf8'));

/** Uses up transaction ids, so that the release's events are of transactions before these. */
const countOn = `
  DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`;

/** Scripts that make the release's database out of an empty one, to be run one after the other. */
export const releaseScripts: readonly string[] = [
  countOn,
  gunzipSync(readFileSync(new URL('data.sql.gz', folder))).toString(),
  'SET search_path = public',
];
