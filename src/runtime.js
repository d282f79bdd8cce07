// JavaScript, so that a Node too old for TypeScript can still read it and say so in one line.
import { existsSync } from 'node:fs';

const needed = 24;

/** Why this Node cannot run Signet from this folder, in one line; undefined if it can. */
export function runtimeFault() {
  const [major] = process.versions.node.split('.');
  if (Number(major) < needed) {
    return `it needs Node ${needed} or later, and this is ${process.versions.node}.`;
  }
  if (!existsSync(new URL('generated/prisma/client.ts', import.meta.url))) {
    return 'its database client is not generated. `npm ci` generates it; without development dependencies, `npm run build` has to run before they are removed.';
  }
  return undefined;
}
