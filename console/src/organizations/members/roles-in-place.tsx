import type { ReactNode } from 'react';
import type { RoleType } from '../../generated/graphql.ts';
import { useAllPages } from '../../kit/api/use-all-pages.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { Filter } from '../../kit/lists/filter.tsx';
import { organizationMessages } from '../messages.ts';
import styles from '../organizations.module.css';
import { OrganizationRoleChoices } from './documents.ts';

/** A record with a name. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** The organization roles that one kind of member can hold. */
export function useRoleChoices(type: RoleType): readonly Named[] {
  const { nodes } = useAllPages(
    OrganizationRoleChoices,
    { type },
    ({ organizationRoles }) => organizationRoles,
  );
  return nodes ?? [];
}

/** The roles of a member. Each change applies at once. */
export function RolesInPlace({
  held,
  choices,
  isReadOnly,
  onAssign,
  onRemove,
  copyAs,
}: {
  held: readonly Named[];
  choices: readonly Named[];
  isReadOnly: boolean;
  onAssign: (roleId: string) => void;
  onRemove: (roleId: string) => void;
  /** The input that assigns these roles, to copy. */
  copyAs: (roleIds: readonly string[]) => ReactNode;
}) {
  const t = useMessages(organizationMessages);
  const names = held.map(({ id, name }) => <Badge key={id}>{name}</Badge>);
  if (isReadOnly || (choices.length === 0 && held.length === 0)) {
    if (held.length === 0)
      return <span className={styles.about}>{isReadOnly ? t.noRoles : t.noRolesToGive}</span>;
    return <span className={styles.chips}>{names}</span>;
  }
  const heldIds = held.map(({ id }) => id);
  const offered = [...choices, ...held.filter(({ id }) => !choices.some((one) => one.id === id))];
  return (
    <span className={styles.chips}>
      {names}
      <Filter
        label={t.roles}
        groups={[{ options: offered.map(({ id, name }) => ({ value: id, label: name })) }]}
        chosen={heldIds}
        isShownBeside
        footer={copyAs(heldIds)}
        onChange={(chosen) => {
          for (const id of chosen) if (!heldIds.includes(id)) onAssign(id);
          for (const id of heldIds) if (!chosen.includes(id)) onRemove(id);
        }}
      />
    </span>
  );
}
