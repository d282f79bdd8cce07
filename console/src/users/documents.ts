import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';
import '../kit/api/refusal.ts';

export const Users = graphql(`
  query Users(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: UserFilter, $orderBy: UserOrder
  ) {
    users(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges {
        node {
          id name username primaryEmail primaryPhone isSuspended lockedUntil lastSignInAt createdAt
        }
      }
      pageInfo { ...PageInfo }
    }
  }
`);

graphql(`
  fragment UserDetails on User {
    id
    name
    username
    primaryEmail
    primaryPhone
    isEmailVerified
    isPhoneVerified
    avatar
    hasPassword
    isSuspended
    lockedUntil
    isVouchedFor
    setterScopes
    profile
    customData
    lastSignInAt
    version
    createdAt
    updatedAt
  }
`);

export const User = graphql(`
  query User($id: ID!) {
    user(id: $id) { ...UserDetails }
  }
`);

export const CreateUser = graphql(`
  mutation CreateUser($input: CreateUserInput!) {
    createUser(input: $input) {
      __typename
      ... on CreateUserPayload { user { ...UserDetails } }
      ...Refusal
    }
  }
`);

export const UpdateUser = graphql(`
  mutation UpdateUser($input: UpdateUserInput!) {
    updateUser(input: $input) {
      __typename
      ... on UpdateUserPayload { user { ...UserDetails } }
      ...Refusal
    }
  }
`);

export const UpdateUserProfile = graphql(`
  mutation UpdateUserProfile($input: UpdateUserProfileInput!) {
    updateUserProfile(input: $input) {
      __typename
      ... on UpdateUserProfilePayload { user { ...UserDetails } }
      ...Refusal
    }
  }
`);

export const UpdateUserCustomData = graphql(`
  mutation UpdateUserCustomData($input: UpdateUserCustomDataInput!) {
    updateUserCustomData(input: $input) {
      __typename
      ... on UpdateUserCustomDataPayload { user { ...UserDetails } }
      ...Refusal
    }
  }
`);

export const UpdateUserPassword = graphql(`
  mutation UpdateUserPassword($input: UpdateUserPasswordInput!) {
    updateUserPassword(input: $input) {
      __typename
      ... on UpdateUserPasswordPayload { user { ...UserDetails } }
      ...Refusal
    }
  }
`);

export const UpdateUserSuspensionStatus = graphql(`
  mutation UpdateUserSuspensionStatus($input: UpdateUserSuspensionStatusInput!) {
    updateUserSuspensionStatus(input: $input) {
      __typename
      ... on UpdateUserSuspensionStatusPayload { user { ...UserDetails } }
      ...Refusal
    }
  }
`);

export const SignOutUser = graphql(`
  mutation SignOutUser($input: SignOutUserInput!) {
    signOutUser(input: $input) {
      __typename
      ... on SignOutUserPayload { user { id } }
      ...Refusal
    }
  }
`);

export const UnlockIdentifier = graphql(`
  mutation UnlockIdentifier($input: UnlockIdentifierInput!) {
    unlockIdentifier(input: $input) {
      __typename
      ... on UnlockIdentifierPayload { type value }
      ...Refusal
    }
  }
`);

export const DeleteUser = graphql(`
  mutation DeleteUser($input: DeleteUserInput!) {
    deleteUser(input: $input) {
      __typename
      ... on DeleteUserPayload { user { id } }
      ...Refusal
    }
  }
`);

export const ImportUsers = graphql(`
  mutation ImportUsers($input: ImportUsersInput!) {
    importUsers(input: $input) {
      __typename
      ... on ImportUsersPayload {
        users { id }
        failures { index code message }
      }
      ...Refusal
    }
  }
`);

export const UserRoles = graphql(`
  query UserRoles($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      roles(first: $first, after: $after, last: $last, before: $before) {
        edges { node { id name description } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const AssignUserRoles = graphql(`
  mutation AssignUserRoles($input: AssignUserRolesInput!) {
    assignUserRoles(input: $input) {
      __typename
      ... on AssignUserRolesPayload { user { id } }
      ...Refusal
    }
  }
`);

export const RemoveUserRole = graphql(`
  mutation RemoveUserRole($input: RemoveUserRoleInput!) {
    removeUserRole(input: $input) {
      __typename
      ... on RemoveUserRolePayload { user { id } }
      ...Refusal
    }
  }
`);

export const UserOrganizations = graphql(`
  query UserOrganizations($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      organizations(first: $first, after: $after, last: $last, before: $before) {
        edges {
          id
          createdAt
          node { id name }
          roles(first: 20) { edges { node { id name } } }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const AddUserToOrganization = graphql(`
  mutation AddUserToOrganization($input: AddOrganizationUsersInput!) {
    addOrganizationUsers(input: $input) {
      __typename
      ... on AddOrganizationUsersPayload { addedUserIds }
      ...Refusal
    }
  }
`);

export const UserSessions = graphql(`
  query UserSessions($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      sessions(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node { id userAgent ip authenticationMethods applicationIds lastActiveAt createdAt }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const EndUserSession = graphql(`
  mutation EndUserSession($input: EndUserSessionInput!) {
    endUserSession(input: $input) {
      __typename
      ... on EndUserSessionPayload { session { id } }
      ...Refusal
    }
  }
`);

export const UserFactors = graphql(`
  query UserFactors($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      factors(first: $first, after: $after, last: $last, before: $before) {
        edges { node { id type name createdAt lastUsedAt remaining } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const NameOfRole = graphql(`
  query NameOfRole($id: ID!) {
    role(id: $id) { id name }
  }
`);

export const DeleteUserFactor = graphql(`
  mutation DeleteUserFactor($input: DeleteUserFactorInput!) {
    deleteUserFactor(input: $input) {
      __typename
      ... on DeleteUserFactorPayload { userFactor { id } }
      ...Refusal
    }
  }
`);

export const NameOfOrganization = graphql(`
  query NameOfOrganization($id: ID!) {
    organization(id: $id) { id name }
  }
`);
