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

/** Follows every function that makes a page of a sign-in: in `experience/pages`, and the protocol's own. */
export async function followPages(): Promise<Rendered> {
  const makers = new Map<string, string>();
  const names: string[] = [];
  const restores: (() => void)[] = [];
  const folder = join(src, 'experience/pages');
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  for (const [path, isPage] of [
    ...files.map((file) => [join(folder, file), /Page$/] as const),
    [join(src, 'html/page.ts'), /[a-z]Page$/] as const,
    [join(src, 'oidc/provider/pages.ts'), /^(show|ask)/] as const,
  ]) {
    const module = (await import(path)) as Record<string, Render>;
    for (const name of Object.keys(module).filter((name) => isPage.test(name))) {
      const render = module[name] as Render;
      const keep = (page: unknown) => makers.set(String(page), name);
      const spy = vi.spyOn<Record<string, Render>, string>(module, name);
      spy.mockImplementation((...given) => {
        const made = render(...given);
        if (typeof made === 'string') {
          keep(made);
          return made;
        }
        // Those of the protocol write their page into the library's context.
        return Promise.resolve(made).then(() => {
          for (const one of given) keep(one?.body);
        });
      });
      names.push(name);
      restores.push(() => spy.mockRestore());
    }
  }
  return {
    all: names.sort(),
    by: (markup) => makers.get(markup),
    restore: () => {
      for (const restore of restores) restore();
    },
  };
}
