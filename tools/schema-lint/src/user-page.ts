// What a Relay client of Signet writes: `node`, a connection with its page, and fragments that are fetched again by id.
declare function graphql(strings: TemplateStringsArray): unknown;

export const page = graphql`
  query userPageQuery($id: ID!) {
    node(id: $id) {
      __typename
      ...userPage_user @alias(as: "user")
    }
    users(first: 10) {
      totalCount
      edges {
        node {
          id
          name
        }
      }
    }
  }
`;

export const user = graphql`
  fragment userPage_user on User @refetchable(queryName: "userPageRefetchQuery") {
    id
    name
    primaryEmail
    createdAt
    ...userPage_roles
  }
`;

export const roles = graphql`
  fragment userPage_roles on User
  @refetchable(queryName: "userPageRolesQuery")
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 20 }
    cursor: { type: "String" }
  ) {
    roles(first: $count, after: $cursor) @connection(key: "userPage_roles") {
      totalCount
      edges {
        node {
          id
          name
        }
      }
    }
  }
`;

export const suspend = graphql`
  mutation userPageSuspendMutation($input: UpdateUserSuspensionStatusInput!) {
    updateUserSuspensionStatus(input: $input) {
      __typename
      ... on UpdateUserSuspensionStatusPayload {
        user {
          id
          isSuspended
        }
      }
      ... on Error {
        code
        message
      }
    }
  }
`;
