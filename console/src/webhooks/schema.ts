import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from 'graphql';
import { endpoint, fetchInSession, requiredHeaders } from '../kit/api/send.ts';

let asked: Promise<GraphQLSchema | undefined> | undefined;

/** The schema by introspection, requested once; undefined if the service does not answer it. */
export const schema = (): Promise<GraphQLSchema | undefined> => {
  asked ??= introspect().catch(() => {
    asked = undefined;
    return undefined;
  });
  return asked;
};

async function introspect(): Promise<GraphQLSchema | undefined> {
  const response = await fetchInSession(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...requiredHeaders },
    body: JSON.stringify({ query: getIntrospectionQuery() }),
  });
  const { data } = (await response.json()) as { data?: IntrospectionQuery };
  return data ? buildClientSchema(data) : undefined;
}
