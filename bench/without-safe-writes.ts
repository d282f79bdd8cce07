import { registerHooks } from 'node:module';

// The service without what stands ready for keys, versions and dry runs, as if it had never been written.

const absent = new Map(
  [
    ['graphql/mutations/once.ts', 'export const once = (_context, _asked, run) => run();'],
    ['graphql/mutations/rehearsal.ts', 'export const isDryRun = () => false;'],
    ['db/versions.ts', 'export const compareVersion = () => undefined;'],
  ].map(([path = '', source]) => [new URL(`../src/${path}`, import.meta.url).href, source]),
);
const mark = '?absent';

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isAbsent = absent.has(found.url) && !context.parentURL?.endsWith(mark);
    return isAbsent ? { ...found, url: `${found.url}${mark}` } : found;
  },
  load(url, context, next) {
    if (!url.endsWith(mark)) return next(url, context);
    const whole = url.slice(0, -mark.length);
    // What is named here hides what the whole module exports under that name.
    const source = `export * from '${whole}'; ${absent.get(whole)}`;
    return { format: 'module', source, shortCircuit: true };
  },
});

await import('./server-mutations.ts');
