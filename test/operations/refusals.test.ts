import { getNamedType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { fetchClientToken } from '../support/client-credentials.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { createFingerprint } from '../support/operations/fingerprint.ts';
import { createMaker } from '../support/operations/maker.ts';
import { operationCases } from '../support/operations/operation-cases.ts';
import {
  type Input,
  inputFields,
  mutations,
  overGraphQL,
  overRest,
  resultTypes,
} from '../support/operations/operations.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { prisma } = service.app.services.database;
const { managementScopes } = await import('../../src/auth/scopes.ts');
const admin = await service.managementToken();
const calls = { GraphQL: overGraphQL(service, admin), REST: overRest(service, admin) };
const make = createMaker(calls.GraphQL);
const cases = operationCases(make, seedDirectory(service.app.services.database, service.clock));

/** An access token for another API than the management one. */
const foreignToken = await (async () => {
  const directory = seedDirectory(service.app.services.database, service.clock);
  const [client, resource] = [
    await directory.createClient(),
    await directory.createResource(['all']),
  ];
  await directory.allowClient(client, resource, ['all']);
  return fetchClientToken(service, client, { resource: resource.indicator, scope: 'all' });
})();

const fingerprint = await createFingerprint(prisma);

const statuses: Readonly<Record<string, number>> = {
  NOT_FOUND: 404,
  CONFLICT: 409,
  INVALID_INPUT: 422,
  NOT_ALLOWED: 403,
  BAD_USER_INPUT: 400,
  FORBIDDEN: 403,
  UNAUTHENTICATED: 401,
};
// Over GraphQL a refusal is a member of the result union and the request itself went well.
const isInUnion = (code: string) =>
  ['NOT_FOUND', 'CONFLICT', 'INVALID_INPUT', 'NOT_ALLOWED'].includes(code);
const statusOf = (via: string, code: string) =>
  via === 'GraphQL' && isInUnion(code) ? 200 : statuses[code];

const idFields = (operation: string) =>
  Object.values(inputFields(operation)).filter(({ type }) => getNamedType(type).name === 'ID');

/** The input with one id replaced by one of the same kind that nothing has. */
function withUnknown(input: Input, field: string): { input: Input; id: string } {
  const value = input[field];
  const known = String(Array.isArray(value) ? value[0] : value);
  const id = `${known.split('_')[0]}_01h455vb4pex5vsknk084sn02q`;
  return { id, input: { ...input, [field]: Array.isArray(value) ? [...value, id] : id } };
}

test('every mutation of the schema has a case', () => {
  expect(Object.keys(cases).sort()).toEqual(Object.keys(mutations).sort());
});

describe.each(['GraphQL', 'REST'] as const)('over %s', (via) => {
  const call = calls[via];

  describe.each(Object.entries(cases))('%s', (operation, { scope, given, ...of }) => {
    const members = resultTypes(operation).map(({ name }) => name);

    test('refuses each fault without a write, then succeeds', async () => {
      const input = await given();
      const duplicate = await of.duplicate?.(input);
      const others = [...managementScopes.keys()].filter(
        (name) => name !== scope && name !== 'all',
      );
      const lacking = await service.managementToken(others.join(' '));
      const beside = of.scopesBeside ?? [];
      const almost = new Map<string, string>();
      for (const missing of beside) {
        const held = [scope, ...beside.filter((one) => one !== missing)];
        almost.set(missing, await service.managementToken(held.join(' ')));
      }
      const enough = await service.managementToken([scope, ...beside].join(' '));

      const before = await fingerprint();
      const refused = async (code: string, faulty: Input, token?: string) => {
        const outcome = await call(operation, faulty, token);
        expect(outcome).toMatchObject({ code, status: statusOf(via, code) });
        expect(await fingerprint()).toEqual(before);
        return outcome;
      };

      for (const { name } of idFields(operation).filter(({ name }) => name in input)) {
        const unknown = withUnknown(input, name);
        expect(await refused('NOT_FOUND', unknown.input)).toMatchObject({ id: unknown.id });
      }
      if (of.missing) await refused('NOT_FOUND', { ...input, ...of.missing });
      expect(members.includes('NotFoundError')).toBe(
        of.missing !== undefined || idFields(operation).length > 0,
      );

      expect(members.includes('ConflictError')).toBe(duplicate !== undefined);
      if (duplicate) {
        const { replace, path } = duplicate;
        expect(await refused('CONFLICT', { ...input, ...replace })).toMatchObject({ path: [path] });
      }

      // A union has this error also where none can be met.
      const hasOther = members.some((name) => /(?<!InvalidInput)Error$/.test(name));
      expect(members.includes('InvalidInputError')).toBe(of.invalid !== undefined || !hasOther);
      for (const fault of of.invalid ?? []) {
        const [field] = Object.keys(fault);
        const { issues } = await refused('INVALID_INPUT', { ...input, ...fault });
        expect(issues?.map(({ path }) => path[0])).toContain(field);
      }
      await refused('BAD_USER_INPUT', { ...input, noSuchField: true });

      expect(await refused('FORBIDDEN', input, lacking)).toMatchObject({ requiredScope: scope });
      await refused('UNAUTHENTICATED', input, foreignToken);
      await refused('UNAUTHENTICATED', input, 'nonsense');

      for (const [missing, token] of almost) {
        expect(await refused('FORBIDDEN', input, token)).toMatchObject({ requiredScope: missing });
      }
      if (of.opensAll) await refused('NOT_ALLOWED', input, enough);
      const token = of.opensAll ? await service.managementToken('all') : enough;
      expect(await call(operation, input, token)).toMatchObject({ code: 'OK' });
    });
  });
});
