import fc from 'fast-check';
import { TypeID } from 'typeid-js';
import { expect, test } from 'vitest';
import { type IdKind, idForQuery, idPrefixes, kindOfId, newId } from '../src/ids.ts';

const kinds = Object.keys(idPrefixes) as IdKind[];

/** The kind of an id as the library reads it. */
function kindByLibrary(id: string): IdKind | undefined {
  try {
    const prefix = TypeID.fromString(id).getType();
    return kinds.find((kind) => idPrefixes[kind] === prefix);
  } catch {
    return undefined;
  }
}

test.each(kinds)('an id of kind %s is one, and no other', (kind) => {
  const id = newId(kind);
  expect(kindOfId(id)).toBe(kind);
  expect(kinds.filter((other) => idForQuery(id, other) !== null)).toEqual([kind]);
});

test('reads ids as the library does, whatever is changed in them', () => {
  const part = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constantFrom('_', '8', 'z', 'i', 'l', 'o', 'u', 'A', '\n', '\0', 'é', '７', 'user_'),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.nat(34),
      fc.nat(2),
      part,
      (kind, at, removed, added) => {
        const id = newId(kind);
        const changed = id.slice(0, at) + added + id.slice(at + removed);
        expect(kindOfId(changed)).toBe(kindByLibrary(changed));
      },
    ),
    { numRuns: 2_000 },
  );
});

test.each(['', '_', 'user', 'user_', `user_${'7'.repeat(26)}`, `user_${'8'.repeat(26)}`])(
  'reads %j as the library does',
  (text) => {
    expect(kindOfId(text)).toBe(kindByLibrary(text));
  },
);
