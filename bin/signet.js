#!/usr/bin/env node
// `npx signet`. A workspace of its own, so that npm links it into node_modules/.bin: npx then needs neither the network nor
// a folder that it can write to, as it would for a `bin` of the project itself.
import { setFlagsFromString } from 'node:v8';
import { programOf } from '../src/built.js';
import { runtimeFault } from '../src/runtime.js';

const fault = runtimeFault();
if (fault) {
  process.stderr.write(`signet cannot run: ${fault}\n`);
  process.exit(1);
}
// As in src/start.sh, for a command that opens the embedded database.
for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
await import(programOf('cli/main'));
