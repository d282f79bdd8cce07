import { getNamedType, isInputObjectType, isLeafType, isObjectType, isUnionType } from 'graphql';
import { restRoutes } from '../../../src/rest/routes.ts';
import { schema } from '../../../src/schema.ts';
import type { TestService } from '../service.ts';
import { callRest } from './rest.ts';

/** The input of a mutation. */
export type Input = Readonly<Record<string, unknown>>;

/** The result of a management operation, over GraphQL or REST. */
interface Outcome {
  /** `OK`, the code of a refusal, or that of a top-level error. */
  readonly code: string;
  /** The HTTP status; over GraphQL, of the whole response. */
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each operation's payload has a shape of its own.
  readonly payload?: any;
  readonly id?: string;
  readonly path?: readonly string[];
  readonly issues?: readonly { readonly path: readonly string[] }[];
  readonly requiredScope?: string;
}

/** Calls one management operation with a token. */
export type Call = (operation: string, input: Input, token?: string) => Promise<Outcome>;

/** The mutations of the schema. */
export const mutations = schema.getMutationType()?.getFields() ?? {};

/** The fields of a mutation's input. */
export function inputFields(operation: string) {
  const type = getNamedType(mutations[operation]?.args[0]?.type);
  if (!isInputObjectType(type)) throw new Error(`There is no mutation ${operation}.`);
  return type.getFields();
}

/** The members of a mutation's result union. */
export function resultTypes(operation: string) {
  const union = getNamedType(mutations[operation]?.type);
  if (!isUnionType(union)) throw new Error(`There is no mutation ${operation}.`);
  return union.getTypes();
}

/**
 * The document that calls a mutation and asks for all that its result has.
 *
 * @param directive Of the operation.
 */
export function documentOf(operation: string, directive = ''): string {
  const members = resultTypes(operation).map((type) => {
    const fields = Object.values(type.getFields()).map((field) => {
      const named = getNamedType(field.type);
      if (isLeafType(named)) return field.name;
      if (named.name === 'InputIssue') return 'issues { path }';
      return isObjectType(named) && named.getFields()['id']
        ? `${field.name} { id }`
        : `${field.name} { __typename }`;
    });
    // Members have fields of the same name but different types.
    const isPayload = type.name.endsWith('Payload');
    return `... on ${type.name} { ${isPayload ? fields.join(' ') : fields.map((field) => (field === 'id' ? 'missing: id' : field)).join(' ')} }`;
  });
  return `mutation ($input: ${mutations[operation]?.args[0]?.type}) ${directive} { ${operation}(input: $input) { __typename ${members.join(' ')} } }`;
}

/** Calls management operations as GraphQL mutations. */
export function overGraphQL(service: Pick<TestService, 'url'>, adminToken: string): Call {
  return async (operation, input, token = adminToken) => {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: documentOf(operation), variables: { input } }),
    });
    const { status } = response;
    const { data, errors } = (await response.json()) as {
      data?: Record<string, Record<string, unknown>> | null;
      errors?: { extensions: { code: string } }[];
    };
    if (errors?.[0]) return { status, ...errors[0].extensions };
    const { __typename: typename, ...result } = data?.[operation] ?? {};
    if (String(typename).endsWith('Payload')) return { status, code: 'OK', payload: result };
    const { missing, ...refusal } = result as { code: string; missing?: string };
    return { status, ...refusal, ...(missing === undefined ? {} : { id: missing }) };
  };
}

/** Calls management operations by their REST routes. */
export function overRest(service: TestService, adminToken: string): Call {
  const { prisma } = service.app.services.database;
  // The id of the owner of a record, which the record's path also names.
  const owners: Readonly<Record<string, (id: string) => Promise<string | undefined>>> = {
    resourceId: async (id) => (await prisma.scope.findUnique({ where: { id } }))?.resourceId,
    applicationId: async (id) =>
      (await prisma.applicationSecret.findUnique({ where: { id } }))?.applicationId,
    userId: async (id) => (await prisma.personalAccessToken.findUnique({ where: { id } }))?.userId,
  };

  return async (operation, input, token = adminToken) => {
    const route = restRoutes.find((candidate) => candidate.operation === operation);
    if (!route) throw new Error(`There is no route for ${operation}.`);
    const body: Record<string, unknown> = { ...input };
    let path = route.path;
    for (const [, parameter = ''] of route.path.matchAll(/:(\w+)/g)) {
      const field = route.rename?.[parameter] ?? parameter;
      const value =
        parameter === route.within?.parameter
          ? ((await owners[parameter]?.(String(input['id']))) ?? 'of-no-one')
          : body[field];
      path = path.replace(`:${parameter}`, encodeURIComponent(String(value)));
      delete body[field];
    }
    const hasBody = Object.keys(body).length > 0;
    const answer = await callRest(
      { url: service.url, token },
      route.method,
      path,
      hasBody ? body : undefined,
    );
    return answer.status < 300
      ? { status: answer.status, code: 'OK', payload: answer.body }
      : { ...answer.body, status: answer.status };
  };
}
