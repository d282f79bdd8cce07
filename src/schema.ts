import './graphql/errors.ts';
import './graphql/scalars.ts';
import './events/schema.ts';
import './resources/schema.ts';
import './roles/schema.ts';
import './users/schema.ts';
import './applications/schema.ts';
import './webhooks/schema.ts';
import './organizations/schema.ts';
import './organizations/membership-schema.ts';
import './signing-keys/schema.ts';
import { builder } from './graphql/builder.ts';

/** The whole GraphQL schema; `schema.graphql` is its print. */
export const schema = builder.toSchema();
