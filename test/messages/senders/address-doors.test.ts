import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { createFirstAdministrator } from '../../../src/console/administrator.ts';
import { InvalidInputError } from '../../../src/errors.ts';
import { accountSchema, experienceSchema, schema } from '../../../src/schema.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { callRest } from '../../support/operations/rest.ts';
import { startMailServer } from '../../support/peers/mail-server.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { createAccountFixture } from '../../support/people/account.ts';
import { startHeadless, step } from '../../support/people/experience.ts';
import { allowPrivate, connectSteered } from '../../support/people/federation.ts';
import { useMailServer } from '../../support/people/messages.ts';
import { openSignInPage, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const { services } = service.app;
const { prisma } = services.database;
const fixture = await createAccountFixture(service);
const endpoint = { url: service.url, token: await service.managementToken() };
const call = overGraphQL(service, endpoint.token);
const admin = createMaker(call);
const app = await fixture.createApplication({ allowHeadlessSignIn: true });
const organizationId = await admin.organization();
const { me } = await fixture.newPerson();
const provider = await startOpenIdProvider();
await connectSteered(service, provider, 'Steered', {
  kind: 'ENTERPRISE',
  emailDomains: ['company.example'],
});
await changeSettings(service, endpoint.token, { signUpIdentifiers: ['EMAIL'] });

interface Answer {
  readonly issues?: readonly { readonly path: readonly (string | number)[] }[];
  readonly __typename?: string;
}
/** The fields that an answer refuses. */
const refusedBy = ({ issues = [] }: Answer) => issues.map(({ path }) => path.join('.'));
const run = async (operation: string, input: object) =>
  refusedBy(await call(operation, { ...input }));
const begin = async () => (await startHeadless(service, { clientId: app.id, redirectUri })).send;

/** Every way to give an address that is stored or written to; each answers which fields are refused. */
const taken: Record<string, (address: string) => Promise<readonly string[]>> = {
  'createUser.primaryEmail': (primaryEmail) => run('createUser', { primaryEmail }),
  'updateUser.primaryEmail': async (primaryEmail) =>
    run('updateUser', { id: await admin.user(), primaryEmail }),
  'importUsers.users.primaryEmail': async (primaryEmail) => {
    const users = [{ primaryEmail }];
    const { body } = await callRest(endpoint, 'POST', '/users/import', { users });
    return body.failures.map(({ message }: { message: string }) => message.split(':')[0]);
  },
  'createOrganizationInvitation.invitee': (invitee) =>
    run('createOrganizationInvitation', { organizationId, invitee }),
  'createOneTimeToken.email': (email) => run('createOneTimeToken', { email }),
  'sendCode.email': async (email) =>
    refusedBy(await step(await begin(), 'sendCode', { purpose: 'REGISTER', email })),
  'sendViewerCode.email': async (email) => refusedBy(await me.run('sendViewerCode', { email })),
};

/** Those that GraphQL does not type as an address. */
const untyped: typeof taken = {
  'sendTestMessage.recipient': (recipient) =>
    run('sendTestMessage', { channel: 'EMAIL', recipient }),
  'POST /users primaryEmail': async (primaryEmail) =>
    refusedBy((await callRest(endpoint, 'POST', '/users', { primaryEmail })).body),
  'the first administrator: email': async (email) => {
    const given = { username: 'first', email, password: 'a long way home, twice' };
    try {
      // Uses nothing up, so that nobody is made.
      await createFirstAdministrator(services, given, async () => false);
      return [];
    } catch (error) {
      if (error instanceof InvalidInputError) return refusedBy(error);
      throw error;
    }
  },
  'the page of a sign-up: email': async (email) => {
    const { browser, visit } = await openSignInPage(service, fixture.client);
    const form = await browser.open(`${visit.url.href.split('?')[0]}/register`);
    const answer = await browser.submit(form, { email });
    const faults = [...answer.body.matchAll(/id="(\w+)-error"/g)].map(([, name]) => String(name));
    expect(answer.body.includes('No e-mail can be sent to this address')).toBe(faults.length > 0);
    return faults;
  },
  'what a provider tells: email': async (email) => {
    const { browser, visit } = await openSignInPage(service, fixture.client);
    const { url } = await browser.submit(visit, { identifier: 'anybody@company.example' });
    count += 1;
    await browser.open(provider.signedIn(url, `subject-${count}`, { email }));
    const newcomer = await prisma.newcomer.findFirst({ orderBy: { createdAt: 'desc' } });
    expect(newcomer?.subject).toBe(`subject-${count}`);
    return newcomer?.email === null ? ['email'] : [];
  },
};

/** Those that only compare an address with stored ones, or read its domain. */
const compared: Record<string, (address: string) => Promise<unknown>> = {
  'users.filter.primaryEmail': async (primaryEmail) =>
    (await callRest(endpoint, 'GET', `/users?${new URLSearchParams({ primaryEmail })}`)).body.users,
  'redeemOneTimeToken.email': async (email) =>
    (await step(await begin(), 'redeemOneTimeToken', { email, token: 'none' })).__typename,
  'startFederation.email': async (address) => {
    const email = address.replace(/@.*/, '@company.example');
    const { url } = await step(await begin(), 'startFederation', { email });
    return new URL(url).searchParams.get('login_hint');
  },
};

/** Where a schema takes an address, as `operation.field`. */
function placesIn(graph: GraphQLSchema): string[] {
  const within = (fields: readonly (GraphQLArgument | GraphQLInputField)[]): string[] =>
    fields.flatMap(({ name, type }) => {
      const named = getNamedType(type);
      if (named.name === 'EmailAddress') return [name];
      const inner = isInputObjectType(named) ? within(Object.values(named.getFields())) : [];
      return inner.map((place) => (name === 'input' ? place : `${name}.${place}`));
    });
  return [graph.getQueryType(), graph.getMutationType(), graph.getSubscriptionType()]
    .flatMap((root) => Object.values(root?.getFields() ?? {}))
    .flatMap(({ name, args }) => within(args).map((place) => `${name}.${place}`));
}

let count = 0;
const newAddress = () => {
  count += 1;
  return `δοκιμή${count}@example.com`;
};
const useServer = async (takes: boolean) =>
  useMailServer(endpoint, await startMailServer({ hideSMTPUTF8: !takes }));

test('each place of an address in the APIs is known here', () => {
  const places = [schema, experienceSchema, accountSchema].flatMap(placesIn);
  expect([...new Set(places)].sort()).toEqual([
    ...[...Object.keys(taken), ...Object.keys(compared)].sort(),
  ]);
});

describe.each(Object.entries({ ...taken, ...untyped }))('%s', (name, give) => {
  const field = name.split(/[. ]/).at(-1);
  test('takes a local part outside ASCII where the sender can send to it', async () => {
    await useServer(true);
    expect(await give(newAddress())).toEqual([]);
  });

  test('refuses it with the name of the field where it cannot', async () => {
    await useServer(false);
    expect(await give(newAddress())).toEqual([field]);
    expect(await give(`ascii${count}@example.com`)).toEqual([]);
  });
});

test.each(Object.entries(compared))('%s takes it whatever the sender can', async (_name, ask) => {
  const address = newAddress();
  await useServer(true);
  await admin.user({ primaryEmail: address });
  const before = await ask(address);
  await useServer(false);
  expect(await ask(address)).toEqual(before);
});

test('the address of the sender itself has a local part of ASCII', async () => {
  const smtp = { host: '127.0.0.1', port: 25, from: 'Δοκιμή <δοκιμή@example.com>' };
  expect(await run('setEmailSender', { smtp })).toEqual(['smtp.from']);
});
