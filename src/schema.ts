import './graphql/errors.ts';
import './graphql/scalars.ts';
import './events/schema.ts';
import './sign-in-experience/schema.ts';
import './service-settings/schema.ts';
import './messages/schema.ts';
import './users/unlock-schema.ts';
import './resources/schema.ts';
import './roles/schema.ts';
import './users/schema.ts';
import './users/one-time-tokens/schema.ts';
import './applications/schema.ts';
import './applications/trusted-issuers/schema.ts';
import './applications/cross-app/schema.ts';
import './subject-tokens/schema.ts';
import './organization-roles/schema.ts';
import './organizations/schema.ts';
import './organizations/members-schema.ts';
import './organizations/organizations-of-member-schema.ts';
import './organization-invitations/schema.ts';
import './permissions/schema.ts';
import './factors/schema.ts';
import './identity-providers/schema.ts';
import './identity-providers/identities-schema.ts';
import './signing-keys/schema.ts';
import './service-status/schema.ts';
import './oidc/sessions/schema.ts';
import './oidc/consent/schema.ts';
import './oidc/registration/schema.ts';
import './oidc/token/explanation/schema.ts';
import './webhooks/endpoint/schema.ts';
import './webhooks/delivery/schema.ts';
import './configuration/schema.ts';
import './experience/schema.ts';
import './experience/step-schema.ts';
import './experience/consent/schema.ts';
import './account/api/schema.ts';
import './account/api/mutations.ts';
import './account/api/factors.ts';
import './account/api/links.ts';
import './account/api/passkeys.ts';
import { specifiedDirectives } from 'graphql';
import { builder } from './graphql/builder.ts';
import { dryRun } from './graphql/mutations/rehearsal.ts';
import { takeAlgorithmNames } from './users/import/schema.ts';

/** The schema of the management API, printed to `schema.graphql`. */
export const schema = builder.toSchema({
  subGraph: 'management',
  directives: [...specifiedDirectives, dryRun],
});
takeAlgorithmNames(schema);

/** The schema of the Experience API, for people who sign in, printed to `experience.graphql`. */
export const experienceSchema = builder.toSchema({ subGraph: 'experience' });

/** The schema of the Account API, for people who look after their own account, printed to `account.graphql`. */
export const accountSchema = builder.toSchema({ subGraph: 'account' });
