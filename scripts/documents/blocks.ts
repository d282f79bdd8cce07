import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page: `sh server` has the language `sh` and the one word `server`. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
}

/** Files of this project: committed, or not ignored by git. */
export const projectFiles = (): readonly string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)));

/** The pages for readers; README first, because the others continue from its end. */
export const pages = (): readonly string[] => [
  'README.md',
  ...projectFiles()
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .sort(),
];

/** The text of a page. */
export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The fenced blocks of a page, in its order. */
export function blocksOf(page: string): readonly Block[] {
  const text = readPage(page);
  return [...text.matchAll(/^```(\w*)([ \w]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', words = '', content = ''], index, all) => ({
      page,
      line: text.slice(0, all[index]?.index).split('\n').length,
      language,
      words: words.split(' ').filter(Boolean),
      text: content,
    }),
  );
}
