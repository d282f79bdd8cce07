import { isVersioned, type VersionedTable } from '../../db/versions.ts';

/** How the field `version` is described. */
export const versionDescription =
  'Grows with each change of its own fields. `expectedVersion` of a change, or `If-Match`, compares it.';

/** How the field `expectedVersion` of an input is described. */
export const expectedVersionDescription =
  'The version that the record must have, as last read: otherwise nothing is written, and `VersionConflictError` tells the current one.';

// The lists that replace what others may have set meanwhile, and the input's field that names the record.
const replacing: Readonly<Record<string, string>> = {
  replaceUserRoles: 'userId',
  replaceApplicationRoles: 'applicationId',
  replaceOrganizationUsers: 'organizationId',
  replaceOrganizationApplications: 'organizationId',
  replaceOrganizationJitRoles: 'organizationId',
  replaceOrganizationRoleScopes: 'organizationRoleId',
};

// Parts of a user that have mutations of their own.
const partsOfUser = ['UserCustomData', 'UserProfile', 'UserPassword', 'UserSuspensionStatus'];

// What has one record, which has no id.
const singles: Readonly<Record<string, VersionedTable>> = {
  updateSignInExperience: 'SignInExperience',
  updateServiceSettings: 'ServiceSettings',
};

/** The id of a record whose version the caller can expect, in the input of a mutation; undefined if it has none. */
export type VersionedId = (input: object) => string;

/** Finds the record whose version the caller of a mutation can expect; undefined if there is none. */
export function versionedIdOf(mutation: string): VersionedId | undefined {
  const single = singles[mutation];
  if (single !== undefined) return () => single;
  const field = fieldOf(mutation);
  return field === undefined
    ? undefined
    : (input) => (input as Record<string, string>)[field] ?? '';
}

function fieldOf(mutation: string): string | undefined {
  const list = replacing[mutation];
  if (list !== undefined) return list;
  const [, noun = ''] = /^(?:update|delete)([A-Z]\w*)$/.exec(mutation) ?? [];
  const isOfRecord = isVersioned(noun) || partsOfUser.includes(noun);
  return isOfRecord ? 'id' : undefined;
}
