// JavaScript, and little of it: each start reads it first.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const generated = join(root, 'src/generated') + sep;

/** What is started of Signet: the paths under `src`. */
export const programs = ['main', 'cli/main'];

/** The name of a program's built file. */
export const builtName = (program) => program.replace('/', '-');

/** The files below a folder of the project. */
export const filesBelow = (folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

/** The SHA-256 over files of the project, wherever it lies and whenever they were written. */
export function digestOf(files) {
  const hash = createHash('sha256');
  for (const path of [...files].sort()) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The digest of what the service is built from. */
function digestOfSources() {
  const sources = filesBelow('src').filter((path) => !path.startsWith(generated));
  // What is generated is made from the schema, by the packages of the lock file.
  const others = ['prisma/schema.prisma', 'package-lock.json', 'scripts/build-service.js'];
  return digestOf([...sources, ...others.map((name) => join(root, name)).filter(existsSync)]);
}

/** Where `npm run build:service` puts what it makes of these sources; what it makes of others is elsewhere. */
export const builtFolder = () => join(root, 'dist', digestOfSources().slice(0, 32));

/**
 * The URL of a program: as it was built, or its source where nothing is built from the sources that are here. What is
 * built finds the packages by where it lies, so a link to it elsewhere does not do.
 */
export function programOf(program) {
  const built = join(builtFolder(), `${builtName(program)}.js`);
  return existsSync(built) && realpathSync(built) === built
    ? pathToFileURL(built).href
    : new URL(`./${program}.ts`, import.meta.url).href;
}
