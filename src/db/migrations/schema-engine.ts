import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';

let loading: Promise<typeof engine.SchemaEngine> | undefined;

/**
 * Loads Prisma's schema engine. The package's own entry imports WebAssembly as a module, for which Node prints a
 * warning at every start.
 */
export function loadSchemaEngine(): Promise<typeof engine.SchemaEngine> {
  loading ??= load();
  return loading;
}

async function load(): Promise<typeof engine.SchemaEngine> {
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const { instance } = await WebAssembly.instantiate(
    await readFile(join(dirname(entry), 'schema_engine_bg.wasm')),
    // The binary imports functions, all of which this module exports.
    { './schema_engine_bg.js': engine as unknown as WebAssembly.ModuleImports },
  );
  const { __wbindgen_start: start } = instance.exports as { __wbindgen_start?: () => void };
  engine.__wbg_set_wasm(instance.exports);
  start?.();
  return engine.SchemaEngine;
}
