import { InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { OrganizationRole, Role } from '../generated/prisma/client.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import type { InputFields, RefusalClass } from '../graphql/mutations/mutation.ts';
import type { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { type HolderKey, type RoleHolder, roleKinds } from './holders.ts';
import { assignRoles, removeRole, replaceRoles } from './operations.ts';

/** The list of the roles of a user or an application. */
export const heldRoles = relatedList<{ roleId: string; role: Role }, Role>({
  relation: 'roles',
  key: 'roleId',
  through: 'role',
});

/** The list of the organization roles of a member. */
export const heldOrganizationRoles = relatedList<
  { organizationRoleId: string; organizationRole: OrganizationRole },
  OrganizationRole
>({ relation: 'roles', key: 'organizationRoleId', through: 'organizationRole' });

interface Options<Column extends string> {
  /** The input's fields that name a holder. */
  readonly key: (t: InputFields) => Readonly<Record<Column, ReturnType<InputFields['id']>>>;
  readonly descriptions: Readonly<Record<'assign' | 'remove' | 'replace', string>>;
  /** The refusals of `remove` beside `NotFoundError`; none by default. */
  readonly removeErrors?: readonly RefusalClass[];
}

/** Adds the mutations that give roles to a kind of holders, take one away, and replace all. */
export function addRoleMutations<Column extends string, Row extends object>(
  { add }: Pick<ReturnType<typeof recordMutations<string, Row>>, 'add'>,
  holder: RoleHolder<Column, Row>,
  { key, descriptions, removeErrors = [] }: Options<Column>,
): void {
  const { name, kind, type } = holder;
  const { id, ids, noun } = roleKinds[kind];
  const plural = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}s`;
  const holders = type === 'USER' ? 'users' : 'applications';
  // The compiler does not compute the types of computed keys.
  const keyOf = (input: object) => {
    const fields = input as HolderKey<Column>;
    return Object.fromEntries(
      holder.key.map((column) => [column, fields[column]]),
    ) as HolderKey<Column>;
  };
  const idsOf = (input: object) => (input as Record<typeof ids, readonly string[]>)[ids];
  const idOf = (input: object) => (input as Record<typeof id, string>)[id];

  const rolesInput = (t: InputFields) => ({
    ...key(t),
    [ids]: t.idList({ required: true, description: `${plural} for ${holders}, at most 100.` }),
  });

  add(`assign${name}Roles`, {
    description: descriptions.assign,
    input: rolesInput,
    errors: [InvalidInputError, NotFoundError, NotAllowedError],
    operation: (context, input) => assignRoles(context, holder, keyOf(input), idsOf(input)),
  });

  add(`remove${name}Role`, {
    description: descriptions.remove,
    input: (t) => ({
      ...key(t),
      [id]: t.id({ required: true, description: `The ${noun} to remove.` }),
    }),
    errors: [NotFoundError, ...removeErrors],
    operation: (context, input) => removeRole(context, holder, keyOf(input), idOf(input)),
  });

  add(`replace${name}Roles`, {
    description: descriptions.replace,
    input: rolesInput,
    errors: [InvalidInputError, NotFoundError, NotAllowedError],
    operation: (context, input) => replaceRoles(context, holder, keyOf(input), idsOf(input)),
  });
}
