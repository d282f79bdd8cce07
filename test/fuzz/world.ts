import { kindOfId } from '../../src/ids.ts';
import { createMaker } from '../support/operations/maker.ts';
import { operationCases } from '../support/operations/operation-cases.ts';
import { type Input, overGraphQL } from '../support/operations/operations.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { consoleFolder } from '../support/people/console.ts';
import { startService } from '../support/service.ts';
import { createOracle } from './oracle.ts';

/** A service with something of everything in it, and the tokens to come in by. */
export async function createWorld() {
  const service = await startService(
    { TRUST_PROXY: '1', ALLOW_PRIVATE_WEBHOOKS: 'true' },
    { consoleFolder },
  );
  const admin = await service.managementToken();
  const fixture = await createAccountFixture(service);
  const account = (await fixture.signInTo('Ada')).token;
  const cases = operationCases(createMaker(overGraphQL(service, admin)), fixture.directory);

  const inputs = new Map<string, Input>();
  const given = async (operation: string): Promise<Input> => {
    const known = inputs.get(operation) ?? (await cases[operation]?.given());
    if (!known) throw new Error(`There is no case of ${operation}.`);
    inputs.set(operation, known);
    return known;
  };
  const secrets = [admin, account, service.admin.secret, fixture.client.secret];
  return {
    service,
    admin,
    account,
    fixture,
    secrets,
    operations: Object.keys(cases),
    given,
    /** Forgets an input that was used up. */
    used: (operation: string) => void inputs.delete(operation),
    ...createOracle(service, secrets),
    /** The ids of records of every kind. */
    async ids(): Promise<string[]> {
      const all = await Promise.all(
        [
          'updateUser',
          'updateRole',
          'updateApplication',
          'updateOrganization',
          'updateResource',
          'updateWebhook',
        ].map(given),
      );
      return all
        .flatMap((input) => Object.values(input))
        .filter(
          (value): value is string => typeof value === 'string' && kindOfId(value) !== undefined,
        );
    },
  };
}
