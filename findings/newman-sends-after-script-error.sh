#!/usr/bin/env bash
# newman 6.2.2 (npm), the runner of Postman's collections: a pre-request script that throws.
#
# Guessed before the run: the request is not sent, as in the Postman app, which refuses with "There was an error in
# evaluating the Pre-request Script".
#
# Seen: the request is sent all the same. The error is reported, and newman ends with 1, but afterwards. With `--bail` it
# is not sent, nor is anything after it. `pm.execution.skipRequest()` keeps one request back.
#
# What it means for a collection: `throw` in a pre-request script is no guard. One that checks a wish before it deletes
# something has to call `skipRequest`, and the request should do no harm where the script fails.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent --ignore-scripts newman@6.2.2

cat >run.cjs <<'JS'
const { createServer } = require('node:http');
const newman = require('newman');

const seen = [];
const server = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.end('{}');
});
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const item = (name, exec) => ({
    name,
    request: { method: 'DELETE', url: `${url}/${name}` },
    event: [{ listen: 'prerequest', script: { exec: [exec] } }],
  });
  const collection = {
    info: { name: 'Guards', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    item: [
      item('throws', "throw new Error('Do not.')"),
      item('skips', 'pm.execution.skipRequest()'),
    ],
  };
  const run = (bail) =>
    new Promise((resolve) => {
      newman.run({ collection, bail, reporters: [] }, (_error, { run: { failures } }) =>
        resolve(failures.length),
      );
    });
  const failures = [await run(false), await run(true)];
  server.close();
  console.log(JSON.stringify({ seen, failures }));
});
JS
expected='{"seen":["DELETE /throws"],"failures":[1,1]}'
actual="$(node run.cjs 2>/dev/null)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
