import { readFile } from 'node:fs/promises';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLUnionType,
  getNamedType,
  isCompositeType,
} from 'graphql';
import { withoutRefusals } from '../events.ts';
import type { TestService } from '../service.ts';
import type { GraphQLAnswer, StepResult } from './experience.ts';
import { createSignInFixture, redirectUri } from './sign-in-fixture.ts';

/** The resource of the Account API. */
export const accountIndicator = 'urn:signet:account';

/** Sends a document to the Account API. */
export async function sendAccount(
  { url }: Pick<TestService, 'url'>,
  token: string | undefined,
  query: string,
  variables: object = {},
): Promise<GraphQLAnswer> {
  const response = await fetch(`${url}/account/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query, variables }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as GraphQLAnswer['body'],
  };
}

const printed = await readFile(new URL('../../../account.graphql', import.meta.url), 'utf8');
const schema = buildSchema(printed);

/** Every field without a required argument, two levels deep. */
function selectionOf(type: GraphQLObjectType, depth = 0): string {
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type);
    if (!isCompositeType(named)) return [field.name];
    if (depth > 0 || named.name.endsWith('Connection')) return [];
    return [`${field.name} { ${selectionOf(named as GraphQLObjectType, depth + 1)} }`];
  });
  return fields.join(' ');
}

function documentOf(name: string): string {
  const field = schema.getMutationType()?.getFields()[name];
  if (!field) throw new Error(`The Account API has no mutation ${name}.`);
  const union = getNamedType(field.type) as GraphQLUnionType;
  const members = union.getTypes().map((type) => {
    const selection = selectionOf(type);
    return `... on ${type.name} { ${selection} }`;
  });
  const [argument] = field.args;
  return `mutation ($input: ${argument?.type}) { ${name}(input: $input) { __typename ${members.join(' ')} } }`;
}

/** A signed-in person at the Account API, by an access token. */
export interface AccountClient {
  readonly token: string;
  query(document: string, variables?: object): Promise<GraphQLAnswer>;
  /** Runs a mutation, and returns the member of its result union with every field. */
  run(name: string, input?: object): Promise<StepResult>;
}

/** Calls the Account API with a token. */
export function accountClient(service: Pick<TestService, 'url'>, token: string): AccountClient {
  const query = (document: string, variables?: object) =>
    sendAccount(service, token, document, variables);
  return {
    token,
    query,
    async run(name, input = {}) {
      const { status, body } = await query(documentOf(name), { input });
      const result = body.data?.[name];
      if (!result) throw new Error(`${name} answered ${status}: ${JSON.stringify(body.errors)}`);
      return result;
    },
  };
}

/** A directory with an application, through which people sign in to look after their account. */
export async function createAccountFixture(service: TestService) {
  const fixture = await createSignInFixture(service);
  const signIn = async (
    username: string,
    {
      scope = 'openid account:read account:write',
      client = fixture.client,
      ...rest
    }: Partial<Parameters<typeof fixture.signIn>[0]> = {},
  ): Promise<AccountClient & { refreshToken: string | undefined }> => {
    const tokens = await fixture.signIn({
      client,
      redirectUri,
      username,
      scope,
      resource: accountIndicator,
      ...rest,
    });
    return {
      ...accountClient(service, tokens.access_token),
      refreshToken: tokens.refresh_token,
    };
  };
  let people = 0;
  /** A new user with a name and an address, and a token of theirs. */
  const newPerson = async (values: object = {}, options: Parameters<typeof signIn>[1] = {}) => {
    people += 1;
    const username = `person${people}`;
    const primaryEmail = `${username}@example.com`;
    const user = await fixture.createUser({ username, primaryEmail, ...values });
    return { user, me: await signIn(username, options) };
  };
  return { ...fixture, signInTo: signIn, newPerson };
}

/** The end of the event log. */
export async function endOfLog({ app }: TestService): Promise<bigint> {
  const { _max } = await app.services.database.prisma.event.aggregate({ _max: { position: true } });
  return _max.position ?? 0n;
}

/** The events since a position of the log that are no sign-ins, oldest first; without those of refusals. */
export const recordedSince = ({ app }: TestService, position: bigint) =>
  app.services.database.prisma.event.findMany({
    where: { position: { gt: position }, type: { not: 'PostSignIn', ...withoutRefusals.type } },
    orderBy: { position: 'asc' },
    select: { type: true, actor: true, data: true },
  });
