import './graphql/errors.ts';
import './graphql/scalars.ts';
import './users/schema.ts';
import { builder } from './graphql/builder.ts';

/** The whole GraphQL schema; `schema.graphql` is its print. */
export const schema = builder.toSchema();
