import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';

type Render = (...given: { readonly body?: unknown }[]) => unknown;

/** Which function made each page that the services of this process have shown since. */
export interface Rendered {
  /** The names of all functions that make a page. */
  readonly all: readonly string[];
  /** The name of the function that made a page; undefined for a page of somebody else. */
  by(markup: string): string | undefined;
  restore(): void;
}

const src = fileURLToPath(new URL('../../../../src/', import.meta.url));

/** The functions that make a page, by the module that exports them. */
async function listMakers(): Promise<[path: string, isMaker: (name: string) => boolean][]> {
  const folder = 'experience/pages';
  const files = await readdir(join(src, folder), { recursive: true });
  const isPage = (name: string) => /[a-z]Page$/.test(name);
  return [
    ...files
      .filter((file) => file.endsWith('.ts'))
      .map((file): [string, typeof isPage] => [join(folder, file), isPage]),
    ['html/page.ts', isPage],
    // One lays out the pages of all others.
    ['oidc/provider/pages.ts', (name) => /^(show|ask)|Page$/.test(name) && name !== 'showPage'],
    ['oidc/provider/self-submitting.ts', () => true],
  ];
}

/** Follows every function that makes a page of a sign-in: in `experience/pages`, and the protocol's own. */
export async function followPages(): Promise<Rendered> {
  const makers = new Map<string, string>();
  const all: string[] = [];
  const restores: (() => void)[] = [];
  for (const [path, isMaker] of await listMakers()) {
    const module = (await import(join(src, path))) as Record<string, Render>;
    for (const name of Object.keys(module).filter(isMaker)) {
      const render = module[name] as Render;
      const maker = `${path} ${name}`;
      const spy = vi.spyOn<Record<string, Render>, string>(module, name);
      spy.mockImplementation((...given) => {
        const before = given.map((one) => one?.body);
        const made = render(...given);
        if (typeof made === 'string') {
          makers.set(made, maker);
          return made;
        }
        // Those of the protocol write their page into the library's context, unless they have none to show.
        return Promise.resolve(made).then(() => {
          const bodies = given.map((one) => one?.body).filter((body, i) => body !== before[i]);
          for (const body of bodies) makers.set(String(body), maker);
        });
      });
      all.push(maker);
      restores.push(() => spy.mockRestore());
    }
  }
  return {
    all: all.sort(),
    by: (markup) => makers.get(markup),
    restore: () => {
      for (const restore of restores) restore();
    },
  };
}
