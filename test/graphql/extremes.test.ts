import { type GraphQLNamedType, getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { createMaker } from '../support/operations/maker.ts';
import { operationCases } from '../support/operations/operation-cases.ts';
import {
  type Input,
  inputFields,
  mutations,
  overGraphQL,
  overRest,
} from '../support/operations/operations.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const endpoint = { url: service.url, token: await service.managementToken() };
const calls = {
  GraphQL: overGraphQL(service, endpoint.token),
  REST: overRest(service, endpoint.token),
};
const make = createMaker(calls.GraphQL);
const cases = operationCases(make, seedDirectory(service.app.services.database, service.clock));

// The offset carries the last two out of the years that they are written with.
const instants = [
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-00:01',
  '0000-01-01T00:00:00+00:01',
];
const malformed = ['10000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '2026-12-31T23:59:60Z'];
const numbers = [-2_147_483_648, -1, 2_147_483_647];

/** The paths to the fields of a scalar's type in an input. */
function pathsTo(scalar: string, type: GraphQLNamedType): string[][] {
  if (!isInputObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type);
    return named.name === scalar
      ? [[field.name]]
      : pathsTo(scalar, named).map((path) => [field.name, ...path]);
  });
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((item) => replaced(item, [key, ...rest], by));
  const fields = { ...((value ?? {}) as Input) };
  return { ...fields, [key]: replaced(fields[key], rest, by) };
}

const fieldsOf = (scalar: string) =>
  Object.keys(mutations).flatMap((operation) =>
    Object.values(inputFields(operation)).flatMap((field) => {
      const named = getNamedType(field.type);
      const paths = named.name === scalar ? [[]] : pathsTo(scalar, named);
      return paths.map((path) => ({ operation, path: [field.name, ...path] }));
    }),
  );

describe.each(['GraphQL', 'REST'] as const)('over %s', (via) => {
  test.each(fieldsOf('DateTime'))('$operation names a bad instant: $path', async (field) => {
    const given = await cases[field.operation]?.given();
    for (const instant of instants) {
      const input = replaced(given, field.path, instant) as Input;
      const outcome = await calls[via](field.operation, input);
      // A faulty row of an import does not stop the others. The document of all operations asks for no details of it.
      const ofRow =
        via === 'REST'
          ? { code: 'INVALID_INPUT', message: expect.stringContaining(`${field.path[1]}:`) }
          : { __typename: 'ImportFailure' };
      const refused =
        field.operation === 'importUsers'
          ? { code: 'OK', payload: { users: [], failures: [ofRow] } }
          : {
              code: 'INVALID_INPUT',
              issues: expect.arrayContaining([expect.objectContaining({ path: field.path })]),
            };
      expect(outcome, instant).toMatchObject(refused);
    }
    for (const text of malformed) {
      const input = replaced(given, field.path, text) as Input;
      expect(await calls[via](field.operation, input), text).toMatchObject({
        code: 'BAD_USER_INPUT',
      });
    }
  });

  // Every number but one is another version than expected.
  const bounded = fieldsOf('Int').filter(({ path }) => path[0] !== 'expectedVersion');
  test.each(bounded)('$operation names a bad number: $path', async (field) => {
    const given = await cases[field.operation]?.given();
    for (const number of numbers) {
      const input = replaced(given, field.path, number) as Input;
      expect(await calls[via](field.operation, input), `${number}`).toMatchObject({
        code: 'INVALID_INPUT',
        issues: expect.arrayContaining([expect.objectContaining({ path: field.path })]),
      });
    }
  });
});

/** The arguments of lists, and where instants stand in them. */
const listed = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) =>
  field.args.flatMap(({ name, type }) => {
    const named = getNamedType(type);
    const paths = named.name === 'DateTime' ? [[]] : pathsTo('DateTime', named);
    return paths.map((path) => ({ field, path: [name, ...path] }));
  }),
);

const spelled = (path: readonly string[], literal: string): string =>
  path.reduceRight(
    (inner, name, at) => (at === 0 ? `${name}: ${inner}` : `{ ${name}: ${inner} }`),
    literal,
  );

test.each(listed)('$field.name names a bad instant: $path', async ({ field, path }) => {
  const name = path.at(-1) ?? '';
  const typed = `query ($at: DateTime) { ${field.name}(${spelled(path, '$at')}) { totalCount } }`;
  const refusal = expect.stringContaining(`"${name}"`);
  for (const at of instants) {
    expect(await send<unknown, object>(endpoint, typed, { at })).toMatchObject({
      status: 400,
      errors: [{ message: refusal, extensions: { code: 'BAD_USER_INPUT' } }],
    });
    const query = new URLSearchParams({ [name]: at });
    expect(await callRest(endpoint, 'GET', `/${field.name}?${query}`)).toMatchObject({
      status: 400,
      body: { detail: refusal },
    });
  }
});
