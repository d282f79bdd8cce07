import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areSpellings, canonicalIndicator, listsIndicator } from '../../src/auth/indicators.ts';

describe('the spellings of an indicator', () => {
  test.each([
    [
      'https://api.example.com/',
      [
        'https://api.example.com',
        'HTTPS://API.example.COM',
        'https://api.example.com:443',
        'https://api.example.com:/',
        'https://api.example.com:0443/',
        'https://%61pi.example.com/',
        'https://api.example.com/.',
        'https://api.example.com/a/..',
        'https://api.example.com/a/%2E%2e/',
        'https:\\\\api.example.com',
        'https:api.example.com',
        'https://@api.example.com',
        'https://:@api.example.com',
      ],
    ],
    ['http://api.example.com/', ['http://api.example.com:80']],
    ['http://127.0.0.1:3000/v1.2', ['http://127.1:3000/v1.2', 'http://0x7f000001:3000/v1%2e2']],
    ['https://xn--bcher-kva.example/', ['https://bücher.example', 'https://BÜCHER.example/']],
    ['https://api.example.com/a%2Fb~', ['https://api.example.com/%61%2fb%7e']],
    [
      'https://api.example.com/%C3%A9',
      ['https://api.example.com/é', 'https://api.example.com/%c3%a9'],
    ],
    ['https://api.example.com/?a=%7Bb%7D', ['https://api.example.com?a={b}']],
    ['https://api.example.com/%25%7Cx', ['https://api.example.com/%|x']],
    ['wss://api.example.com/', ['WSS://api.example.com:443']],
    ['api://orders.internal/v1', ['API://Orders.Internal/./v1', 'api://orders.internal:/x/../v1']],
    ['api://default/', ['api://default', 'API://Default']],
    ['app:/.//x', ['app:/..//x']],
    ['tag:example.com,2026:a/../b', ['TAG:example.com,2026:%61/../b']],
    ['urn:example:a%2Fb', ['URN:EXAMPLE:a%2fb']],
  ])('%s', (canonical, spellings) => {
    for (const spelling of [canonical, ...spellings]) {
      expect(canonicalIndicator(spelling)).toBe(canonical);
      expect(areSpellings(spelling, canonical)).toBe(true);
      expect(listsIndicator(['https://other.example.com', spelling], canonical)).toBe(true);
    }
  });

  test.each([
    ['https://api.example.com/v1', 'https://api.example.com/v1/'],
    ['https://api.example.com/v1', 'https://api.example.com/V1'],
    ['https://api.example.com/', 'http://api.example.com/'],
    ['https://api.example.com/', 'https://api.example.com./'],
    ['https://api.example.com/', 'https://api.example.com/?'],
    ['https://api.example.com/', 'https://api.example.com:80/'],
    ['https://api.example.com/', 'https://api.example.com//'],
    ['https://api.example.com/a/b', 'https://api.example.com/a%2Fb'],
    ['https://api.example.com/%2561', 'https://api.example.com/%61'],
    ['https://api.example.com/%%34%31', 'https://api.example.com/A'],
    ['https://user@api.example.com/', 'https://User@api.example.com/'],
    ['urn:example:a', 'urn:example:A'],
    ['urn:example:a', 'urn:example:%61'],
  ])('%s is not %s', (one, other) => {
    expect(areSpellings(one, other)).toBe(false);
  });

  test.each([
    'urn:signet:management',
    'URN:signet:management',
    'urn:SIGNET:account',
    'urn:signet:%6danagement',
    'orders',
    '',
    'https://',
    'https://api.example.com/#x',
    'https://api.example.com/ x',
    'https://api.example.com/\0',
    'https://api.example.com/\u0001',
    'https://api.example.com/\ud800',
    `https://api.example.com/${'x'.repeat(2025)}`,
    `https://${'x'.repeat(2 ** 20)}`,
    'ſ://x',
  ])('text %# has but its own', (text) => {
    expect(canonicalIndicator(text)).toBe(null);
    expect(areSpellings(text, text)).toBe(true);
    expect(listsIndicator([text], text)).toBe(true);
  });

  test('one of Signet’s own is in no list under another spelling', () => {
    const others = ['URN:signet:management', 'urn:signet:%6danagement', 'urn:%73ignet:management'];
    expect(listsIndicator(others, 'urn:signet:management')).toBe(false);
  });
});

const piece = fc.constantFrom(
  ...['/', '.', '..', '/../', '%2e', '%2E', '%', '%%34%31', '%7e', '%2f', '%25', '%zz', ':', '@'],
  ...[
    'a',
    'A',
    'é',
    'ſ',
    'K',
    '\u{1f600}',
    '~',
    '-',
    '_',
    '!',
    "'",
    '(',
    '*',
    '[',
    ']',
    '|',
    '^',
    '`',
  ],
  ...[
    '{',
    '"',
    '<',
    '\\',
    '&',
    '=',
    ';',
    ',',
    '+',
    '$',
    '?',
    '80',
    '443',
    ':443',
    '127.1',
    'xn--a',
  ],
);
const start = fc.constantFrom(
  ...[
    'https://',
    'HTTP://',
    'https:',
    'http:/',
    'https://api.example.com',
    'https://h/',
    'wss://h',
  ],
  ...[
    'ftp://H:21',
    'api://',
    'api://Host',
    'app:/',
    'app:',
    'urn:',
    'URN:Example:',
    'urn:sig',
    'https://h/?',
  ],
);
const text = fc
  .tuple(start, fc.array(piece, { maxLength: 12 }))
  .map(([begin, rest]) => begin + rest.join(''));
const runs = { numRuns: 3_000, seed: 1 };

describe('the canonical form of whatever is sent', () => {
  test('is its own', () => {
    fc.assert(
      fc.property(text, (spelling) => {
        const canonical = canonicalIndicator(spelling);
        if (canonical !== null) expect(canonicalIndicator(canonical)).toBe(canonical);
      }),
      runs,
    );
  });

  test('is that of what a URL class writes, of http and the like a URL as it writes it', () => {
    fc.assert(
      fc.property(text, (spelling) => {
        const canonical = canonicalIndicator(spelling);
        if (canonical === null || !/^(?:https?|wss?|ftp):/i.test(spelling)) return;
        expect(canonicalIndicator(new URL(spelling).href)).toBe(canonical);
        expect(new URL(canonical).href).toBe(canonical);
        expect(canonical).toMatch(/^[\x21-\x7e]+$/);
      }),
      runs,
    );
  });

  test('names no host, and of urn:signet: nothing, that the spelling does not', () => {
    fc.assert(
      fc.property(text, (spelling) => {
        const canonical = canonicalIndicator(spelling);
        if (canonical === null) return;
        expect(canonical).not.toMatch(/^urn:signet:/i);
        if (/^https?:/i.test(spelling))
          expect(new URL(canonical).host).toBe(new URL(spelling).host);
      }),
      runs,
    );
  });
});
