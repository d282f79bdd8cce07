import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import {
  type Block,
  blocksOf,
  pages,
  projectFiles,
  readPage,
  root,
} from '../scripts/documents/blocks.ts';
import { readConfig } from '../src/config.ts';
import { readDocument } from '../src/configuration/document.ts';
import { schema } from '../src/schema.ts';

const blocks = pages().flatMap((page) => blocksOf(page).map((block) => ({ page, block })));

const checks: Readonly<Record<string, (block: Block) => void>> = {
  graphql: ({ text }) => expect(validate(schema, parse(text))).toEqual([]),
  json: ({ text }) => void JSON.parse(text),
  // A document of the configuration, unless another word says whose it is.
  yaml: ({ text, words }) => void (words.length > 0 ? parseYaml(text) : readDocument(schema, text)),
  env: ({ text }) => {
    const variables = text
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2));
    expect(() => readConfig(Object.fromEntries(variables))).not.toThrow();
  },
  // npm run test:documents runs it.
  sh: ({ text }) => expect(spawnSync('bash', ['-n'], { input: text }).status).toBe(0),
  // A drawing names files of src/.
  text({ text }) {
    const files = text.match(/\b[\w/-]+\.ts\b/g) ?? [];
    expect(files.filter((file) => !existsSync(join(root, 'src', file)))).toEqual([]);
  },
  // Files of examples/, put in by npm run generate: their types are checked, and the pages' shell blocks run them.
  js: ({ text }) => expectExample(text),
  ts: ({ text }) => expectExample(text),
  python: ({ text }) => {
    expectExample(text);
    const compiled = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: text,
    });
    expect(compiled.status ?? 0).toBe(0);
  },
  // test/operating/back-to-a-moment.test.ts runs PostgreSQL with it.
  ini: ({ text }) => expect(text).toMatch(/^(\w+ = ('[^'\n]*'|\w+)\n)+$/),
  nginx: ({ text }) => expect(text.split('{').length).toBe(text.split('}').length),
};

const examples = projectFiles().filter((file) => file.startsWith('examples/'));
const expectExample = (text: string) =>
  expect(examples.map(readPage).some((example) => example === text)).toBe(true);

describe('each block of code in the documentation', () => {
  test.each(blocks.map(({ page, block }) => [page, block.line, block.language, block] as const))(
    '%s:%i is sound %s',
    (_page, _line, language, block) => {
      const check = checks[language];
      if (!check) throw new Error(`Nothing checks a block of the language "${language}".`);
      check(block);
    },
  );
});

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

test.each(pages())('the links of %s lead somewhere', (page) => {
  const text = readPage(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    // A folder has no headings, and a picture none to read.
    if (anchor === undefined) return false;
    const headings = readPage(target).matchAll(/^#+ (.+)$/gm);
    return ![...headings].some(([, name = '']) => anchorOf(name) === anchor);
  });
  expect(broken).toEqual([]);
});

test.each([...pages(), 'CONTRIBUTING.md'])('the files that %s names exist', (page) => {
  const named = readPage(page).matchAll(
    /`((?:\.ci|src|test|prisma|scripts|examples|docs)\/[^`\s]+)`/g,
  );
  const missing = [...named].filter(([, path = '']) => !existsSync(join(root, path)));
  expect(missing.map(([, path]) => path)).toEqual([]);
});

test('the tests that docs/asvs.md names exist', () => {
  const cited = [...readPage('docs/asvs.md').matchAll(/`(test\/[^`]+)`((?:,? “[^”]+”)*)/g)];
  const missing = cited.flatMap(([, file = '', titles = '']) => {
    const text = existsSync(join(root, file)) ? readPage(file) : undefined;
    if (text === undefined) return [file];
    const quoted = [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => title);
    return quoted
      .filter((title) => !['"', "'", '`'].some((mark) => text.includes(`${mark}${title}${mark}`)))
      .map((title) => `${file}: ${title}`);
  });
  expect(missing).toEqual([]);
  expect(cited.length).toBeGreaterThan(0);
});

describe('compose.yaml', () => {
  const { services } = parseYaml(readPage('compose.yaml')) as {
    services: Record<string, Record<string, unknown>>;
  };
  const { signet, postgres } = services;

  test('gives the service variables that it reads', () => {
    const environment = signet?.['environment'] as Record<string, string | null>;
    const given = Object.entries(environment).map(([name, value]) => [
      name,
      // Without a value it is passed on, if it is set.
      (value ?? '')
        .replaceAll(/\$\{\w+:\?[^}]*\}/g, '0123456789abcdef'.repeat(3))
        .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
    ]);
    const config = readConfig(Object.fromEntries(given));
    expect(config.database).toMatchObject({ kind: 'postgresql' });
    expect(config.adminClient).toBeUndefined();
    expect(signet?.['env_file']).toEqual([{ path: '.env', required: false }]);
  });

  test('waits for the database, and withholds needless rights', () => {
    expect(signet).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      depends_on: { postgres: { condition: 'service_healthy' } },
    });
    expect(postgres).toHaveProperty('healthcheck.test');
  });
});

test('the image has all files and starts as npm does', () => {
  const dockerfile = readPage('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' '),
  );
  expect(copied.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const allowed = readPage('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  expect(allowed.map((line) => line.slice(1)).sort()).toEqual([...copied].sort());
  expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  expect(dockerfile).toMatch(/^CMD \["src\/start\.sh"\]$/m);
  expect(JSON.parse(readPage('package.json')).scripts.start).toBe('exec src/start.sh');
  // Signals reach the service, not a shell.
  expect(readPage('src/start.sh')).toMatch(/^exec node /m);
});
