import { findOneLive } from '../events/catalogue/live-records.ts';
import { builder } from '../graphql/builder.ts';
import { maxSources, type ScopeSource as ScopeSourceShape } from './sources.ts';

/** A role by which a user or an application holds a scope. */
export const ScopeSource = builder.objectRef<ScopeSourceShape>('ScopeSource').implement({
  description:
    'A role by which a user or an application holds a scope: its own, or one in an organization.',
  fields: (t) => ({
    roleId: t.exposeID('roleId', { nullable: true, description: 'Its own role.' }),
    organizationRoleId: t.exposeID('organizationRoleId', {
      nullable: true,
      description: 'The organization role.',
    }),
    organizationId: t.exposeID('organizationId', {
      nullable: true,
      description: 'The organization in which it has the organization role.',
    }),
    role: t.prismaField({
      type: 'Role',
      nullable: true,
      description: 'Its own role.',
      resolve: (query, { roleId }, _args, context) => findOneLive(context, 'Role', roleId, query),
    }),
    organizationRole: t.prismaField({
      type: 'OrganizationRole',
      nullable: true,
      description: 'The organization role.',
      resolve: (query, { organizationRoleId }, _args, context) =>
        findOneLive(context, 'OrganizationRole', organizationRoleId, query),
    }),
    organization: t.prismaField({
      type: 'Organization',
      nullable: true,
      description: 'The organization in which it has the organization role.',
      resolve: (query, { organizationId }, _args, context) =>
        findOneLive(context, 'Organization', organizationId, query),
    }),
    counts: t.exposeBoolean('counts', {
      description: 'Whether it counts; a token for one organization ignores the roles in others.',
    }),
  }),
});

/** What the descriptions of lists of sources say of their length. */
export const sourcesDescription = `at most ${maxSources} of its own, and ${maxSources} in organizations. None for the scopes of the own account, which everybody holds.`;

/** What a list of sources costs. */
export const sourcesCost = { field: 1, multiplier: 2 * maxSources };
