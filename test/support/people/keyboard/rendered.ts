import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import * as webPage from '../../../../src/web/page.ts';
import type { Answer, Page } from '../../../../src/web/site.ts';

type Render = (...given: { readonly body?: unknown }[]) => unknown;
type Module = Record<string, unknown>;

/** Which page of the source each answer is, of those that the services of this process have sent since. */
export interface Rendered {
  /** The names of all pages. */
  readonly all: readonly string[];
  /** The name of the page with this markup; undefined for a page of somebody else. */
  by(markup: string): string | undefined;
  restore(): void;
}

const src = fileURLToPath(new URL('../../../../src/', import.meta.url));
const folder = 'experience/pages';

// They only lead to other pages.
const shownNever = ['factorPage', 'federationPage', 'otherAccountPage'];
// Their forms show something themselves.
const showAfterwards = ['newFactorPages.BACKUP_CODES'];

/** The functions that make a page of their own, by the module that exports them. */
const makers: readonly [path: string, isMaker: (name: string) => boolean][] = [
  ['experience/site/stopped.ts', (name) => name.endsWith('Page')],
  ['web/stopped.ts', (name) => name.endsWith('Page')],
  // One lays out the pages of all others.
  ['oidc/provider/pages.ts', (name) => /^(show|ask)|Page$/.test(name) && name !== 'showPage'],
  ['oidc/provider/self-submitting.ts', () => true],
  ['oidc/provider/device/pages.ts', () => true],
  // Shown by several pages.
  [`${folder}/address.ts`, (name) => name === 'showAddress'],
];

const importModule = async (path: string): Promise<Module> =>
  (await import(join(src, path))) as Module;

const isPage = (exported: unknown): exported is Page =>
  typeof exported === 'object' && exported !== null && 'show' in exported;

/** The pages that a module exports, by name: each by itself, or several in a table. */
const pagesOf = (module: Module): [name: string, page: Page][] =>
  Object.entries(module).flatMap(([name, exported]) => {
    if (isPage(exported)) return [[name, exported]];
    const table = typeof exported === 'object' ? Object.entries(exported ?? {}) : [];
    return table.flatMap(([key, page]): [string, Page][] =>
      isPage(page) ? [[`${name}.${key}`, page]] : [],
    );
  });

/** Follows every page of a sign-in: in `experience/pages`, and the protocol's own. */
export async function followPages(): Promise<Rendered> {
  const namesByBody = new WeakMap<object, string>();
  const namesByMarkup = new Map<string, string>();
  const all: string[] = [];
  const restores: (() => void)[] = [];

  // The first to name a body is the one that made it; a page may only pass it on.
  const nameBody = (made: unknown, name: string) => {
    if (typeof made !== 'object' || made === null || !('body' in made)) return;
    const body = made.body as object;
    if (!namesByBody.has(body)) namesByBody.set(body, name);
  };

  const { sendPage, page: markupOf } = webPage;
  const sending = vi.spyOn(webPage, 'sendPage').mockImplementation((reply, look, content) => {
    const name = namesByBody.get(content.body);
    if (name !== undefined) namesByMarkup.set(markupOf(content, look), name);
    return sendPage(reply, look, content);
  });
  restores.push(() => sending.mockRestore());

  for (const file of await readdir(join(src, folder), { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    for (const [exported, page] of pagesOf(await importModule(join(folder, file)))) {
      const name = `${join(folder, file)} ${exported}`;
      const follow = (part: 'show' | 'submit', partName: string) => {
        const answer = page[part];
        if (!answer) return;
        const spy = vi.spyOn(page as Required<Page>, part);
        spy.mockImplementation(async (...given): Promise<Answer> => {
          const made = await answer(...given);
          nameBody(made, partName);
          return made;
        });
        restores.push(() => spy.mockRestore());
      };
      follow('show', name);
      follow('submit', `${name}: its form`);
      if (!shownNever.includes(exported)) all.push(name);
      if (showAfterwards.includes(exported)) all.push(`${name}: its form`);
    }
  }

  for (const [path, isMaker] of makers) {
    const module = await importModule(path);
    for (const exported of Object.keys(module).filter(isMaker)) {
      const render = module[exported] as Render;
      const name = `${path} ${exported}`;
      const spy = vi.spyOn(module as Record<string, Render>, exported);
      spy.mockImplementation((...given) => {
        const before = given.map((one) => one?.body);
        const made = render(...given);
        if (!(made instanceof Promise) && made !== undefined) {
          nameBody(made, name);
          return made;
        }
        // Those of the protocol write their page into the library's context, unless they have none to show.
        return Promise.resolve(made).then(() => {
          const bodies = given.map((one) => one?.body).filter((body, i) => body !== before[i]);
          for (const body of bodies) namesByMarkup.set(String(body), name);
        });
      });
      all.push(name);
      restores.push(() => spy.mockRestore());
    }
  }
  return {
    all: all.sort(),
    by: (markup) => namesByMarkup.get(markup),
    restore: () => {
      for (const restore of restores) restore();
    },
  };
}
