import { expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };
const idOf = async (path: string, body: object, field: string): Promise<string> =>
  (await callRest(endpoint, 'POST', path, body)).body[field].id;

const organizationId = await idOf('/organizations', { name: 'O' }, 'organization');
const otherId = await idOf('/organizations', { name: 'P' }, 'organization');
const roleId = await idOf('/organization-roles', { name: 'R' }, 'organizationRole');
const userId = await idOf('/users', { name: 'U' }, 'user');
const application = { name: 'A', type: 'MACHINE_TO_MACHINE' };
const applicationId = await idOf('/applications', application, 'application');
for (const id of [organizationId, otherId]) {
  await callRest(endpoint, 'POST', `/organizations/${id}/users`, { userIds: [userId] });
  await callRest(endpoint, 'POST', `/organizations/${id}/applications`, {
    applicationIds: [applicationId],
  });
}

interface Answer {
  readonly organization: Record<'members' | 'applications', { edges: [{ node: { id: string } }] }>;
  readonly user: { organizations: { edges: { id: string }[] } };
  readonly application: { organizations: { edges: { id: string }[] } };
}
const read = async () => {
  const { data } = await send<Answer, object>(
    endpoint,
    `query ($organizationId: ID!, $userId: ID!, $applicationId: ID!) {
      organization(id: $organizationId) {
        members { edges { node { id } } }
        applications { edges { node { id } } }
      }
      user(id: $userId) { organizations { edges { id } } }
      application(id: $applicationId) { organizations { edges { id } } }
    }`,
    { organizationId, userId, applicationId },
  );
  if (!data) throw new Error('There is no data.');
  return {
    member: data.organization.members.edges[0].node.id,
    application: data.organization.applications.edges[0].node.id,
    organizationsOfUser: data.user.organizations.edges.map(({ id }) => id),
    organizationsOfApplication: data.application.organizations.edges.map(({ id }) => id),
  };
};

test('each membership has its own id, the same everywhere', async () => {
  const first = await read();
  expect(first.member).toMatch(/^orguser_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(first.application).toMatch(/^orgapp_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(first.organizationsOfUser[0]).toBe(first.member);
  expect(first.organizationsOfApplication[0]).toBe(first.application);
  expect(new Set([...first.organizationsOfUser, ...first.organizationsOfApplication]).size).toBe(4);
  expect(await read()).toEqual(first);
});

test('a mutation on a membership returns the list’s id', async () => {
  const { data } = await send<
    { assignOrganizationUserRoles: { organizationUser: { id: string } } },
    object
  >(
    endpoint,
    `mutation ($input: AssignOrganizationUserRolesInput!) {
      assignOrganizationUserRoles(input: $input) {
        ... on AssignOrganizationUserRolesPayload { organizationUser { id } }
      }
    }`,
    { input: { organizationId, userId, organizationRoleIds: [roleId] } },
  );
  expect(data?.assignOrganizationUserRoles.organizationUser.id).toBe((await read()).member);
});

test("an id reveals nothing about the member's id", async () => {
  const { member } = await read();
  const random = userId.split('_')[1]?.slice(10) ?? '';
  expect(member).not.toContain(random);
});
