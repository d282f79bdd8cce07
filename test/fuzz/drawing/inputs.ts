import {
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { type Gen, numberBelow, pick, rarely, several } from './fuzz.ts';
import { hostileJson, hostileText } from './values.ts';

/** What plausible values of each scalar are; ids are those that exist. */
const plausible: Readonly<Record<string, readonly unknown[]>> = {
  Int: [0, 1, 2, 100, 101, -1, 2 ** 31 - 1, -(2 ** 31)],
  Float: [0, 0.5, -1, 1e308],
  Boolean: [true, false],
  DateTime: [
    '2030-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59-12:00',
  ],
  URL: ['https://a.example.com', 'http://127.0.0.1:9/', 'https://a.example.com/?\ud800', 'ftp://a'],
  EmailAddress: ['a@example.com', 'A@EXAMPLE.COM', '"a b"@example.com', 'ä@example.com'],
  PhoneNumber: ['+4915112345678', '+0', '0049'],
  JSON: [null, {}, [], 'a', 1],
  JSONObject: [{}, { a: { b: [1] } }, { '\0': 1 }, { a: '\ud800' }],
};

/** A value of an input type, here and there with a hostile part. */
export function inputOf(
  g: Gen,
  type: GraphQLInputType,
  ids: readonly string[],
  depth = 0,
): unknown {
  if (rarely(g, 12)) return hostileJson(g);
  if (isNonNullType(type)) return inputOf(g, type.ofType, ids, depth);
  if (rarely(g, 10)) return null;
  if (isListType(type)) {
    return several(g, 3, () => inputOf(g, type.ofType as GraphQLInputType, ids, depth + 1));
  }
  if (isEnumType(type)) return pick(g, type.getValues()).name;
  if (isInputObjectType(type)) {
    if (depth > 4) return {};
    const fields = Object.values(type.getFields()).filter(
      (field) => isNonNullType(field.type) || rarely(g, 3),
    );
    return Object.fromEntries(
      fields.map((field) => [field.name, inputOf(g, field.type, ids, depth + 1)]),
    );
  }
  if (type.name === 'ID') return rarely(g, 3) ? hostileText(g) : (pick(g, ids) ?? 'none');
  const known = plausible[type.name];
  return known && !rarely(g, 4) ? pick(g, known) : hostileText(g);
}

/** A good input in which one or two fields are replaced, missing or too many. */
export function spoiled(
  g: Gen,
  input: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, { readonly type: GraphQLInputType }>>,
  ids: readonly string[],
): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...input };
  for (let left = 1 + numberBelow(g, 2); left > 0; left -= 1) {
    const name = pick(g, Object.keys(fields));
    const type = fields[name]?.type;
    switch (numberBelow(g, 12)) {
      case 10:
        delete copy[name];
        break;
      case 11:
        copy[hostileText(g)] = hostileJson(g);
        break;
      default:
        if (type) copy[name] = rarely(g, 2) ? hostileJson(g) : inputOf(g, type, ids);
    }
  }
  return copy;
}
