import { expect } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { newId } from '../../src/ids.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { type GraphQLAnswer, send } from '../support/operations/graphql.ts';
import { membershipLists } from '../support/operations/lists.ts';
import { startService } from '../support/service.ts';

/** The result of a mutation: the payload's fields, or those of a refusal. */
export type Result = Record<string, unknown> & { readonly __typename: string };

/** An event as in the log. */
export interface Raised {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

const capitalize = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

const tables = [
  'Organization',
  'OrganizationUser',
  'OrganizationApplication',
  'OrganizationRole',
  'OrganizationScope',
  'OrganizationRoleScope',
  'OrganizationRoleResourceScope',
  'OrganizationUserRole',
  'OrganizationApplicationRole',
  'OrganizationInvitation',
  'OrganizationInvitationRole',
  'OrganizationEmailDomain',
  'OrganizationJitRole',
];

/** A service, and a client of its management API that may do everything. */
export async function startOrganizations() {
  const service = await startService();
  const endpoint = { url: service.url, token: await service.managementToken() };
  const { prisma } = service.app.services.database;
  const directory = seedDirectory(service.app.services.database, service.clock);
  let count = 0;

  /** Sends a mutation; all have the same form. */
  function sendMutation(
    mutation: string,
    input: object,
    payload = '__typename',
    token: string | undefined = endpoint.token,
  ): Promise<GraphQLAnswer<Record<string, Result>>> {
    const name = capitalize(mutation);
    return send<Record<string, Result>, { input: object }>(
      { url: service.url, token },
      `mutation ($input: ${name}Input!) {
        ${mutation}(input: $input) {
          __typename
          ... on ${name}Payload { ${payload} }
          ... on Error {
            code
            message
            ... on InvalidInputError { issues { path } }
            ... on NotFoundError { id }
            ... on ConflictError { path }
          }
        }
      }`,
      { input },
    );
  }

  /** Does a mutation and returns its result, a payload or a refusal. */
  async function attempt(mutation: string, input: object, payload?: string): Promise<Result> {
    const { status, data, errors } = await sendMutation(mutation, input, payload);
    const result = data?.[mutation];
    if (status !== 200 || errors || !result) {
      throw new Error(`${mutation} answered ${status}: ${JSON.stringify(errors)}`);
    }
    return result;
  }

  /** Does a mutation and returns its payload; a refusal fails the test. */
  async function mutate(mutation: string, input: object, payload?: string): Promise<Result> {
    const result = await attempt(mutation, input, payload);
    if (result.__typename !== `${capitalize(mutation)}Payload`) {
      throw new Error(`${mutation} was refused: ${JSON.stringify(result)}`);
    }
    return result;
  }

  /** The whole event log, in order. */
  const readLog = () =>
    prisma.$queryRaw<Raised[]>`SELECT "type", "data" FROM "Event" ORDER BY "xid", "position"`;

  /** Does something and returns the events that it raised, in order. */
  async function raisedBy(act: () => Promise<unknown>): Promise<Raised[]> {
    const before = (await readLog()).length;
    await act();
    return (await readLog()).slice(before);
  }

  /** All tables of organizations, and the length of the log. */
  async function snapshot(): Promise<unknown> {
    const contents: unknown[] = [];
    for (const table of tables) {
      contents.push(
        await prisma.$queryRaw`
          SELECT ${table} AS "table", coalesce(string_agg(t::text, E'\n' ORDER BY t::text), '') AS "rows"
            FROM ${Prisma.raw(`"${table}"`)} AS t`,
      );
    }
    return [contents, await prisma.event.count()];
  }

  return {
    service,
    endpoint,
    prisma,
    directory,
    sendMutation,
    attempt,
    mutate,
    raisedBy,
    snapshot,

    /** Moves the clock, and gets a token that is valid then. */
    async passTime(milliseconds: number): Promise<void> {
      service.clock.advance(milliseconds);
      endpoint.token = await service.managementToken();
    },

    /** Sends a query and returns its data; an error fails the test. */
    async query(document: string, variables: object = {}): Promise<Record<string, unknown>> {
      const { data, errors } = await send<Record<string, unknown>, object>(
        endpoint,
        document,
        variables,
      );
      expect(errors).toBeUndefined();
      if (!data) throw new Error('The query answered without data.');
      return data;
    },

    /** Asserts that a mutation is refused in this way, with nothing written and no event raised. */
    async expectRefusal(mutation: string, input: object, refusal: object): Promise<void> {
      const before = await snapshot();
      expect(await attempt(mutation, input)).toMatchObject(refusal);
      expect(await snapshot()).toEqual(before);
    },

    /** Asserts that a mutation succeeds and changes nothing. */
    async expectNoOp(mutation: string, input: object, payload?: string): Promise<Result> {
      const before = await snapshot();
      const result = await mutate(mutation, input, payload);
      expect(await snapshot()).toEqual(before);
      return result;
    },

    async createOrganization(): Promise<string> {
      return (await directory.createOrganization()).id;
    },

    async createUsers(howMany: number): Promise<string[]> {
      const now = service.clock.now();
      const ids = Array.from({ length: howMany }, () => newId('User'));
      // The embedded database blocks the process while it works; in one go, connections would look idle.
      for (let start = 0; start < ids.length; start += 500) {
        await prisma.user.createMany({
          data: ids.slice(start, start + 500).map((id) => ({ id, createdAt: now, updatedAt: now })),
        });
      }
      return ids;
    },

    /** Creates an organization role and returns its id. */
    async createRole(type: 'USER' | 'MACHINE_TO_MACHINE' = 'USER'): Promise<string> {
      const now = service.clock.now();
      const id = newId('OrganizationRole');
      count += 1;
      await prisma.organizationRole.create({
        data: { id, name: `Given role ${count}`, type, createdAt: now, updatedAt: now },
      });
      return id;
    },

    /** Creates an organization scope. */
    async createScope(): Promise<{ id: string; name: string }> {
      const now = service.clock.now();
      count += 1;
      const scope = { id: newId('OrganizationScope'), name: `given:${count}` };
      await prisma.organizationScope.create({
        data: { ...scope, createdAt: now, updatedAt: now },
      });
      return scope;
    },
  };
}

/** A membership event; lists that the test does not name are empty. */
export const membership = (organizationId: string, change: Record<string, readonly string[]>) => ({
  type: 'Organization.Membership.Updated',
  data: membershipLists(organizationId, change),
});

/** A result for an unknown id. */
export const notFound = (id: string) => ({ __typename: 'NotFoundError', code: 'NOT_FOUND', id });

/** A result with these fields at fault, and no others. */
export const invalid = (...paths: string[][]) => ({
  __typename: 'InvalidInputError',
  code: 'INVALID_INPUT',
  issues: paths.map((path) => ({ path })),
});

/** A result for a value that another record has. */
export const conflict = (...path: string[]) => ({
  __typename: 'ConflictError',
  code: 'CONFLICT',
  path,
});

/** A result for what a rule forbids. */
export const notAllowed = { __typename: 'NotAllowedError', code: 'NOT_ALLOWED' };
