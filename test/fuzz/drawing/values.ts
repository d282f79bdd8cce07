import fc from 'fast-check';
import { type Gen, numberBelow, pick, rarely } from './fuzz.ts';

/** A tag that no page may hold: found in HTML, it was not escaped. */
export const tag = '<fuzz onfuzz=1>';

const texts = [
  '',
  ' ',
  tag,
  `">${tag}`,
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '\u202e\u0000\uffff',
  '%zz',
  '%00',
  '%ed%a0%80',
  '../../../etc/passwd',
  "' OR 1=1 --",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as people send it.
  '${jndi:ldap://127.0.0.1/a}',
  '{{7*7}}',
  '__proto__',
  'constructor',
  'toString',
  'null',
  '1e999',
  '-0',
  '0000-00-00T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:59-23:59',
  'javascript:alert(1)',
  'http://[::1',
  'http://a@b:99999/',
  'a@b',
  '\r\nset-cookie: a=b',
  'x'.repeat(3000),
  'é'.repeat(300),
  '\u{1f469}\u200d'.repeat(200),
];

const anyText = () => fc.string({ unit: 'binary', maxLength: 40 });
const anyJson = () => fc.jsonValue({ maxDepth: 4 });

/** A text that breaks things. */
export const hostileText = (g: Gen): string =>
  rarely(g, 3) ? g(anyText) : rarely(g, 60) ? 'x'.repeat(70_000) : pick(g, texts);

const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
const values: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  1e308,
  5e-324,
  [],
  {},
  [null],
  [[]],
  JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":1}}'),
  { '\ud800': '\udfff' },
  { '\0': '\0' },
  nested(70),
  nested(3000),
  Array.from({ length: 6000 }, (_, i) => i),
];

/** A JSON value that breaks things. */
export function hostileJson(g: Gen): unknown {
  if (rarely(g, 4)) return g(anyJson);
  return rarely(g, 2) ? hostileText(g) : pick(g, values);
}

/** A text with a part taken out, doubled or replaced. */
export function damaged(g: Gen, text: string): string {
  const [from, to] = [numberBelow(g, text.length + 1), numberBelow(g, text.length + 1)].sort(
    (a, b) => a - b,
  ) as [number, number];
  const part = text.slice(from, to);
  const instead = pick(g, ['', part.repeat(2), hostileText(g)]);
  return text.slice(0, from) + instead + text.slice(to);
}

/** Flips one bit somewhere. */
export function flipped(g: Gen, given: Buffer): Buffer {
  const copy = Buffer.from(given);
  const at = numberBelow(g, Math.max(copy.length, 1));
  copy[at] = (copy[at] ?? 0) ^ (1 << numberBelow(g, 8));
  return copy;
}
