import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the examples. */
export const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** Whether the packages of a folder of examples are there: `npm run test:interop` installs them. */
export const areInstalled = (folder: string): boolean =>
  existsSync(join(examples, folder, 'node_modules'));
