import { InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutations/mutation.ts';
import {
  addOrganizationMembers,
  type Changed,
  removeOrganizationMember,
  replaceOrganizationMembers,
} from './members.ts';
import { organizationMutations } from './schema.ts';

const organizationField = (t: InputFields) => ({
  organizationId: organizationMutations.id(t),
});
const usersInput = (t: InputFields) => ({
  ...organizationField(t),
  userIds: t.idList({ required: true, description: 'Users, at most 5000.' }),
});
const applicationsInput = (t: InputFields) => ({
  ...organizationField(t),
  applicationIds: t.idList({
    required: true,
    description: 'Machine-to-machine applications, at most 5000.',
  }),
});

addMutation('addOrganizationUsers', {
  description:
    'Adds up to 5,000 users to an organization; existing members stay as they are. Raises `Organization.Membership.Updated` with the new ones.',
  scope: 'organizations:write',
  input: usersInput,
  payload: (t: PayloadFields<Changed>) => ({
    ...organizationMutations.payload(t),
    addedUserIds: t.exposeIDList('added', { description: 'Those who were not members before.' }),
  }),
  errors: [InvalidInputError, NotFoundError],
  resolve: ({ organizationId, userIds }, context) =>
    addOrganizationMembers(context, 'user', organizationId, userIds),
});

addMutation('removeOrganizationUser', {
  description:
    'Removes a user, with the roles held there, from an organization. Raises `Organization.Membership.Updated`.',
  scope: 'organizations:write',
  input: (t) => ({
    ...organizationField(t),
    userId: t.id({ required: true, description: 'The member to remove.' }),
  }),
  payload: (t: PayloadFields<Changed>) => ({
    ...organizationMutations.payload(t),
    removedUserIds: t.exposeIDList('removed', { description: 'The user who left.' }),
  }),
  errors: [NotFoundError, NotAllowedError],
  resolve: ({ organizationId, userId }, context) =>
    removeOrganizationMember(context, 'user', organizationId, userId),
});

addMutation('replaceOrganizationUsers', {
  description:
    'Sets the users of an organization, up to 5,000; those who stay keep their roles. Raises `Organization.Membership.Updated` with those who joined and those who left: several events for more than 5,000.',
  scope: 'organizations:write',
  input: usersInput,
  payload: (t: PayloadFields<Changed>) => ({
    ...organizationMutations.payload(t),
    addedUserIds: t.exposeIDList('added', { description: 'Those who joined.' }),
    removedUserIds: t.exposeIDList('removed', { description: 'Those who left.' }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: ({ organizationId, userIds }, context) =>
    replaceOrganizationMembers(context, 'user', organizationId, userIds),
});

addMutation('addOrganizationApplications', {
  description:
    'Adds up to 5,000 machine-to-machine applications to an organization; existing members stay as they are. Raises `Organization.Membership.Updated` with the new ones.',
  scope: 'organizations:write',
  input: applicationsInput,
  payload: (t: PayloadFields<Changed>) => ({
    ...organizationMutations.payload(t),
    addedApplicationIds: t.exposeIDList('added', {
      description: 'Those that were not members before.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: ({ organizationId, applicationIds }, context) =>
    addOrganizationMembers(context, 'application', organizationId, applicationIds),
});

addMutation('removeOrganizationApplication', {
  description:
    'Removes an application, with the roles held there, from an organization. Raises `Organization.Membership.Updated`.',
  scope: 'organizations:write',
  input: (t) => ({
    ...organizationField(t),
    applicationId: t.id({ required: true, description: 'The member to remove.' }),
  }),
  payload: (t: PayloadFields<Changed>) => ({
    ...organizationMutations.payload(t),
    removedApplicationIds: t.exposeIDList('removed', { description: 'The application that left.' }),
  }),
  errors: [NotFoundError],
  resolve: ({ organizationId, applicationId }, context) =>
    removeOrganizationMember(context, 'application', organizationId, applicationId),
});

addMutation('replaceOrganizationApplications', {
  description:
    'Sets the machine-to-machine applications of an organization, up to 5,000; those that stay keep their roles. Raises `Organization.Membership.Updated` with those that joined and those that left: several events for more than 5,000.',
  scope: 'organizations:write',
  input: applicationsInput,
  payload: (t: PayloadFields<Changed>) => ({
    ...organizationMutations.payload(t),
    addedApplicationIds: t.exposeIDList('added', { description: 'Those that joined.' }),
    removedApplicationIds: t.exposeIDList('removed', { description: 'Those that left.' }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: ({ organizationId, applicationIds }, context) =>
    replaceOrganizationMembers(context, 'application', organizationId, applicationIds),
});
