/** The data of `Organization.Membership.Updated`; lists that a test does not name are empty. */
export const membershipLists = (organizationId: unknown, lists: object) => ({
  organizationId,
  addedUserIds: [],
  removedUserIds: [],
  addedApplicationIds: [],
  removedApplicationIds: [],
  ...lists,
});

/** The data of `OrganizationRole.Scopes.Updated`; lists that a test does not name are empty. */
export const organizationRoleLists = (organizationRoleId: unknown, lists: object) => ({
  organizationRoleId,
  addedScopes: [],
  removedScopes: [],
  addedResourceScopes: [],
  removedResourceScopes: [],
  ...lists,
});
