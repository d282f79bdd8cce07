import { applicationsCases } from './cases/applications.ts';
import type { Case, Seed } from './cases/case.ts';
import { configurationCases } from './cases/configuration.ts';
import { identityProvidersCases } from './cases/identity-providers.ts';
import { messagesCases } from './cases/messages.ts';
import { organizationInvitationsCases } from './cases/organizations/invitations.ts';
import { organizationMembersCases } from './cases/organizations/members.ts';
import { organizationsCases } from './cases/organizations/organizations.ts';
import { organizationRolesCases } from './cases/organizations/roles.ts';
import { resourcesCases } from './cases/resources.ts';
import { rolesCases } from './cases/roles.ts';
import { signInExperienceCases } from './cases/sign-in-experience.ts';
import { signingKeysCases } from './cases/signing-keys.ts';
import { subjectTokensCases } from './cases/subject-tokens.ts';
import { trustCases } from './cases/trust.ts';
import { usersCases } from './cases/users.ts';
import { webhooksCases } from './cases/webhooks.ts';
import type { Maker } from './maker.ts';
import type { Input } from './operations.ts';

const cases = {
  ...applicationsCases,
  ...configurationCases,
  ...identityProvidersCases,
  ...messagesCases,
  ...organizationInvitationsCases,
  ...organizationMembersCases,
  ...organizationRolesCases,
  ...organizationsCases,
  ...resourcesCases,
  ...rolesCases,
  ...signInExperienceCases,
  ...signingKeysCases,
  ...subjectTokensCases,
  ...trustCases,
  ...usersCases,
  ...webhooksCases,
};

/** A {@link Case} over a running service. */
export interface OperationCase extends Omit<Case, 'given' | 'duplicate'> {
  readonly given: () => Promise<Input>;
  readonly duplicate?: (input: Input) => ReturnType<NonNullable<Case['duplicate']>>;
}

/** A case for each mutation of the schema. */
export const operationCases = (make: Maker, seed: Seed): Readonly<Record<string, OperationCase>> =>
  Object.fromEntries(
    Object.entries(cases).map(([operation, { given, duplicate, ...rest }]) => [
      operation,
      {
        ...rest,
        given: () => given(make, seed),
        ...(duplicate ? { duplicate: (input: Input) => duplicate(make, input) } : {}),
      },
    ]),
  );
