import { openingsOf } from '../../../src/auth/granting/openings.ts';

/** The operations with fields that open rights later, by the test file that attacks them. */
export const laterOperations = {
  users: [
    'createUser',
    'importUsers',
    'updateUser',
    'updateUserPassword',
    'createOneTimeToken',
    'assignUserRoles',
    'replaceUserRoles',
    'createRole',
    'updateRole',
  ],
  applications: [
    'createApplication',
    'updateApplication',
    'createApplicationSecret',
    'createTrustedIssuer',
    'updateTrustedIssuer',
    'assignApplicationRoles',
    'replaceApplicationRoles',
  ],
  organizations: [
    'assignOrganizationUserRoles',
    'replaceOrganizationUserRoles',
    'assignOrganizationApplicationRoles',
    'replaceOrganizationApplicationRoles',
    'createOrganizationInvitation',
    'updateOrganizationInvitationStatus',
    'addOrganizationEmailDomain',
    'addOrganizationIdentityProvider',
    'replaceOrganizationJitRoles',
  ],
  experience: [
    'setEmailSender',
    'setSmsSender',
    'createIdentityProvider',
    'updateIdentityProvider',
  ],
  settings: ['updateSignInExperience'],
} as const;

/** The fields of an operation that open rights later. */
export const laterFields = (operation: string): string[] =>
  Object.entries(openingsOf[operation] ?? {})
    .filter(([, opening]) => [opening ?? []].flat().includes('LATER'))
    .map(([field]) => field);
