import './graphql/errors.ts';
import './graphql/scalars.ts';
import './events/schema.ts';
import './sign-in-experience/schema.ts';
import './messages/schema.ts';
import './protection/schema.ts';
import './resources/schema.ts';
import './roles/schema.ts';
import './users/schema.ts';
import './users/one-time-token-schema.ts';
import './applications/schema.ts';
import './subject-tokens/schema.ts';
import './organization-roles/schema.ts';
import './organizations/schema.ts';
import './organizations/members-schema.ts';
import './organizations/organizations-of-member-schema.ts';
import './organization-invitations/schema.ts';
import './factors/schema.ts';
import './identity-providers/schema.ts';
import './identity-providers/identities-schema.ts';
import './signing-keys/schema.ts';
import './service-status/schema.ts';
import './oidc/sessions/schema.ts';
import './oidc/consent/schema.ts';
import './oidc/token/explanation/schema.ts';
import './webhooks/endpoint/schema.ts';
import './webhooks/delivery/schema.ts';
import './experience/schema.ts';
import './experience/step-schema.ts';
import './experience/consent/schema.ts';
import './account/api/schema.ts';
import './account/api/mutations.ts';
import './account/api/factors.ts';
import './account/api/links.ts';
import './experience/factors/schema.ts';
import './experience/passkeys/schema.ts';
import { builder } from './graphql/builder.ts';
import { takeAlgorithmNames } from './users/import/schema.ts';

/** The schema of the management API, printed to `schema.graphql`. */
export const schema = builder.toSchema({ subGraph: 'management' });
takeAlgorithmNames(schema);

/** The schema of the Experience API, for people who sign in, printed to `experience.graphql`. */
export const experienceSchema = builder.toSchema({ subGraph: 'experience' });

/** The schema of the Account API, for people who look after their own account, printed to `account.graphql`. */
export const accountSchema = builder.toSchema({ subGraph: 'account' });
