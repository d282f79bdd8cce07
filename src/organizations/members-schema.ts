import { InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { Organization as OrganizationRow } from '../generated/prisma/client.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutations/mutation.ts';
import {
  addOrganizationApplications,
  addOrganizationUsers,
  removeOrganizationApplication,
  removeOrganizationUser,
  replaceOrganizationApplications,
  replaceOrganizationUsers,
} from './members.ts';
import { organizationMutations } from './schema.ts';

type Changed<Field extends string> = { organization: OrganizationRow } & Record<Field, string[]>;

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
  payload: (t: PayloadFields<Changed<'addedUserIds'>>) => ({
    ...organizationMutations.payload(t),
    addedUserIds: t.exposeIDList('addedUserIds', {
      description: 'Those who were not members before.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError],
  resolve: (input, context) => addOrganizationUsers(context, input),
});

addMutation('removeOrganizationUser', {
  description:
    'Removes a user, with the roles held there, from an organization. Raises `Organization.Membership.Updated`.',
  scope: 'organizations:write',
  input: (t) => ({
    ...organizationField(t),
    userId: t.id({ required: true, description: 'The member to remove.' }),
  }),
  payload: (t: PayloadFields<Changed<'removedUserIds'>>) => ({
    ...organizationMutations.payload(t),
    removedUserIds: t.exposeIDList('removedUserIds', { description: 'The user who left.' }),
  }),
  errors: [NotFoundError],
  resolve: (input, context) => removeOrganizationUser(context, input),
});

addMutation('replaceOrganizationUsers', {
  description:
    'Sets the users of an organization, up to 5,000; those who stay keep their roles. Raises `Organization.Membership.Updated` with those who joined and those who left: several events for more than 5,000.',
  scope: 'organizations:write',
  input: usersInput,
  payload: (t: PayloadFields<Changed<'addedUserIds' | 'removedUserIds'>>) => ({
    ...organizationMutations.payload(t),
    addedUserIds: t.exposeIDList('addedUserIds', { description: 'Those who joined.' }),
    removedUserIds: t.exposeIDList('removedUserIds', { description: 'Those who left.' }),
  }),
  errors: [InvalidInputError, NotFoundError],
  resolve: (input, context) => replaceOrganizationUsers(context, input),
});

addMutation('addOrganizationApplications', {
  description:
    'Adds up to 5,000 machine-to-machine applications to an organization; existing members stay as they are. Raises `Organization.Membership.Updated` with the new ones.',
  scope: 'organizations:write',
  input: applicationsInput,
  payload: (t: PayloadFields<Changed<'addedApplicationIds'>>) => ({
    ...organizationMutations.payload(t),
    addedApplicationIds: t.exposeIDList('addedApplicationIds', {
      description: 'Those that were not members before.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: (input, context) => addOrganizationApplications(context, input),
});

addMutation('removeOrganizationApplication', {
  description:
    'Removes an application, with the roles held there, from an organization. Raises `Organization.Membership.Updated`.',
  scope: 'organizations:write',
  input: (t) => ({
    ...organizationField(t),
    applicationId: t.id({ required: true, description: 'The member to remove.' }),
  }),
  payload: (t: PayloadFields<Changed<'removedApplicationIds'>>) => ({
    ...organizationMutations.payload(t),
    removedApplicationIds: t.exposeIDList('removedApplicationIds', {
      description: 'The application that left.',
    }),
  }),
  errors: [NotFoundError],
  resolve: (input, context) => removeOrganizationApplication(context, input),
});

addMutation('replaceOrganizationApplications', {
  description:
    'Sets the machine-to-machine applications of an organization, up to 5,000; those that stay keep their roles. Raises `Organization.Membership.Updated` with those that joined and those that left: several events for more than 5,000.',
  scope: 'organizations:write',
  input: applicationsInput,
  payload: (t: PayloadFields<Changed<'addedApplicationIds' | 'removedApplicationIds'>>) => ({
    ...organizationMutations.payload(t),
    addedApplicationIds: t.exposeIDList('addedApplicationIds', {
      description: 'Those that joined.',
    }),
    removedApplicationIds: t.exposeIDList('removedApplicationIds', {
      description: 'Those that left.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: (input, context) => replaceOrganizationApplications(context, input),
});
