import { expect, test } from 'vitest';
import { send } from '../../support/operations/graphql.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };
const ask = <Data>(query: string, variables: object = {}) =>
  send<Data, object>(endpoint, query, variables);

const created = await ask<Record<string, Record<string, { id: string }>>>(
  `mutation {
    createOrganization(input: { name: "O" }) { ... on CreateOrganizationPayload { organization { id } } }
    createUser(input: { name: "U" }) { ... on CreateUserPayload { user { id } } }
    createRole(input: { name: "R", type: USER }) { ... on CreateRolePayload { role { id } } }
    createOrganizationRole(input: { name: "OR" }) {
      ... on CreateOrganizationRolePayload { organizationRole { id } }
    }
    createApplication(input: { name: "A", type: MACHINE_TO_MACHINE }) {
      ... on CreateApplicationPayload { application { id } }
    }
  }`,
);
const ids = {
  organizationId: created.data?.['createOrganization']?.['organization']?.id,
  userId: created.data?.['createUser']?.['user']?.id,
  roleId: created.data?.['createRole']?.['role']?.id,
  organizationRoleId: created.data?.['createOrganizationRole']?.['organizationRole']?.id,
  applicationId: created.data?.['createApplication']?.['application']?.id,
};
await ask(
  `mutation ($organizationId: ID!, $userId: ID!, $roleId: ID!, $organizationRoleId: ID!, $applicationId: ID!) {
    assignUserRoles(input: { userId: $userId, roleIds: [$roleId] }) { __typename }
    addOrganizationUsers(input: { organizationId: $organizationId, userIds: [$userId] }) { __typename }
    addOrganizationApplications(
      input: { organizationId: $organizationId, applicationIds: [$applicationId] }
    ) { __typename }
    assignOrganizationUserRoles(
      input: { organizationId: $organizationId, userId: $userId, organizationRoleIds: [$organizationRoleId] }
    ) { __typename }
  }`,
  ids,
);

const cursor = expect.any(String);

test.each(['edges { cursor }', 'pageInfo { endCursor }', 'totalCount', '__typename'])(
  'a list without requested nodes gives %s',
  async (selection) => {
    const { status, errors, data } = await ask(
      `query ($userId: ID!, $organizationId: ID!, $applicationId: ID!) {
        user(id: $userId) {
          roles { ${selection} }
          organizations { ${selection} }
        }
        organization(id: $organizationId) {
          members { ${selection} }
          applications { ${selection} }
          emailDomains { ${selection} }
          jitRoles { ${selection} }
        }
        application(id: $applicationId) {
          roles { ${selection} }
          secrets { ${selection} }
          organizations { ${selection} }
        }
      }`,
      ids,
    );
    expect({ status, errors }).toEqual({ status: 200, errors: undefined });
    if (selection !== 'edges { cursor }') return;
    expect(data).toMatchObject({
      user: { roles: { edges: [{ cursor }] }, organizations: { edges: [{ cursor }] } },
      organization: { members: { edges: [{ cursor }] }, applications: { edges: [{ cursor }] } },
    });
  },
);

test('a list within an edge gives cursors too', async () => {
  const { status, errors } = await ask(
    `query ($userId: ID!, $organizationId: ID!) {
      user(id: $userId) { organizations { edges { roles { edges { cursor } } } } }
      organization(id: $organizationId) { members { edges { node { roles { edges { cursor } } } } } }
    }`,
    ids,
  );
  expect({ status, errors }).toEqual({ status: 200, errors: undefined });
});
