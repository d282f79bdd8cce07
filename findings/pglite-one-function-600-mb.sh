#!/usr/bin/env bash
# PGlite 0.5.16 (npm), PostgreSQL as WebAssembly, in Node 24.21.0.
#
# Guessed, before it was traced: what V8 spends to optimise PostgreSQL is spread over its 15,000 functions, a little for
# each, and no single one is to be seen in the memory of a process.
#
# Seen: one function of 104,930 bytes takes about 604 MB by itself while V8 optimises it, and a third of all the time
# that goes to optimising. `SELECT 1` is enough to make V8 do so, after it has been answered.
#
# What it means for a service: the peak of a process with PGlite is twice what its data need. Where memory is narrow,
# leave WebAssembly at V8's first compiler (`--no-wasm-tier-up --no-wasm-dynamic-tiering`).
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent node@24.21.0 @electric-sql/pglite@0.5.16

cat >one.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const database = await PGlite.create();
await database.query('SELECT 1');
// What is optimised is optimised in the background, after the answer.
await new Promise((done) => setTimeout(done, 20_000));
console.log(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
process.exit();
JS
node=node_modules/node/bin/node
"$node" --trace-wasm-compilation-times one.mjs >traced.txt
"$node" --no-wasm-tier-up --no-wasm-dynamic-tiering one.mjs >plain.txt
grep 'TurboFan.*bodysize 104930 ' traced.txt || { echo 'No such function was optimised.' >&2; exit 1; }
bytes="$(sed -n 's/.*TurboFan.* and \([0-9]*\) .*bodysize 104930 .*/\1/p' traced.txt)"
peak="$(sed -n 's/^peak \([0-9]*\) MB$/\1/p' traced.txt)"
plain="$(sed -n 's/^peak \([0-9]*\) MB$/\1/p' plain.txt)"
echo "peak with the second compiler: $peak MB; without: $plain MB"
[ "$bytes" -gt 500000000 ] || { echo "The function took $bytes bytes." >&2; exit 1; }
[ "$((peak * 2))" -gt "$((plain * 3))" ] || { echo 'The peak is not half as high again.' >&2; exit 1; }
