import { readFile } from 'node:fs/promises';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';

test.each(['schema', 'account', 'experience'])(
  'every result in %s.graphql can be asked for an error',
  async (name) => {
    const printed = await readFile(new URL(`../../${name}.graphql`, import.meta.url), 'utf8');
    const schema = buildSchema(printed);
    const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
    expect(mutations).not.toEqual([]);
    const refused = mutations.filter(({ name: mutation, args: [input] }) => {
      const document = `mutation ($input: ${input?.type}) {
        ${mutation}(input: $input) { ... on Error { code message } }
      }`;
      return validate(schema, parse(document)).length > 0;
    });
    expect(refused.map((field) => field.name)).toEqual([]);
  },
);
