#!/usr/bin/env node
// `npx signet`. A workspace of its own, so that npm links it into node_modules/.bin: npx then needs neither the network nor
// a folder that it can write to, as it would for a `bin` of the project itself.
import { programOf } from '../src/built.js';
import { runtimeFault } from '../src/runtime.js';

const fault = runtimeFault();
if (fault) {
  process.stderr.write(`signet cannot run: ${fault}\n`);
  process.exit(1);
}
await import(programOf('cli/main'));
