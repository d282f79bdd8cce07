#!/usr/bin/env bash
# orval 8.38.0 (npm), a generator of clients: an operation whose body the OpenAPI document gives in two media types.
#
# Guessed before the run: its function sends the first of the two, as openapi-fetch and @hey-api/openapi-ts do.
#
# Seen: with one media type the function sends its `Content-Type`; with two it sends none, though the body is still
# `JSON.stringify`'s. `fetch` then calls it `text/plain;charset=UTF-8`. No warning is printed.
#
# What it means for a service: whoever adds `application/merge-patch+json` beside `application/json` makes each patch of
# such clients a 415, once they are generated anew. Let their readers set the header, or keep one media type.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent --ignore-scripts orval@8.38.0 tsx@4.23.15

cat >document.mjs <<'JS'
import { writeFileSync } from 'node:fs';

const schema = { type: 'object', properties: { name: { type: ['string', 'null'] } } };
const operation = (operationId, types) => ({
  patch: {
    operationId,
    requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) },
    responses: { 200: { description: 'Done.' } },
  },
});
const json = 'application/json';
writeFileSync('openapi.json', JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Two', version: '1' },
  paths: {
    '/one': operation('one', [json]),
    '/two': operation('two', [json, 'application/merge-patch+json']),
  },
}));
JS
node document.mjs
npx orval --input openapi.json --output client.ts --client fetch >/dev/null
cat >run.mts <<'TS'
const seen = {};
globalThis.fetch = async (path, options) => {
  seen[path] = new Request(`http://localhost${path}`, options).headers.get('content-type');
  return new Response('{}');
};
const { one, two } = await import('./client.ts');
await one({ name: null });
await two({ name: null });
console.log(JSON.stringify(seen));
TS
expected='{"/one":"application/json","/two":"text/plain;charset=UTF-8"}'
actual="$(npx tsx run.mts)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
