import { expect, test } from 'vitest';
import { managementScopes } from '../../../src/auth/scopes.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { operationCases } from '../../support/operations/operation-cases.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const call = overGraphQL(service, await service.managementToken());
const seed = seedDirectory(service.app.services.database, service.clock);
const cases = operationCases(createMaker(call), seed);

/** What takes `all`, and how it refuses. */
const refused: Readonly<Record<string, string>> = {
  deleteSigningKey: 'FORBIDDEN',
  rotateSigningKey: 'FORBIDDEN',
  updateServiceSettings: 'NOT_ALLOWED',
};

test.each(Object.keys(cases))(
  '%s works for whoever holds every scope but all',
  async (operation) => {
    const scopes = [...managementScopes.keys()].filter((scope) => scope !== 'all').join(' ');
    const token = await service.managementToken(scopes);
    const input = (await cases[operation]?.given()) ?? {};
    const { code } = await call(operation, input, token);
    expect(code).toBe(refused[operation] ?? 'OK');
  },
);
