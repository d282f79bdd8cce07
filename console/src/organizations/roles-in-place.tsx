import type { ReactNode } from 'react';
import { useAllPages } from '../api/use-all-pages.ts';
import { Badge } from '../controls/badge.tsx';
import type { RoleType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { Filter } from '../lists/filter.tsx';
import { OrganizationRoleChoices } from './documents.ts';
import { organizationMessages } from './messages.ts';
import styles from './organizations.module.css';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The organization roles that one kind of member may hold. */
export function useRoleChoices(type: RoleType): readonly Named[] {
  const { nodes } = useAllPages(
    OrganizationRoleChoices,
    { type },
    ({ organizationRoles }) => organizationRoles,
  );
  return nodes ?? [];
}

/** The roles of a member; each choice applies at once. */
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
  /** The assignment of roles by these ids, as it would be sent. */
  copyAs: (roleIds: readonly string[]) => ReactNode;
}) {
  const t = useMessages(organizationMessages);
  if (isReadOnly || (choices.length === 0 && held.length === 0)) {
    if (held.length === 0)
      return <span className={styles.about}>{isReadOnly ? t.noRoles : t.noRolesToGive}</span>;
    return (
      <span className={styles.chips}>
        {held.map(({ id, name }) => (
          <Badge key={id}>{name}</Badge>
        ))}
      </span>
    );
  }
  const heldIds = held.map(({ id }) => id);
  const offered = [...choices, ...held.filter(({ id }) => !choices.some((one) => one.id === id))];
  return (
    <Filter
      label={t.roles}
      groups={[{ options: offered.map(({ id, name }) => ({ value: id, label: name })) }]}
      chosen={heldIds}
      footer={copyAs(heldIds)}
      onChange={(chosen) => {
        for (const id of chosen) if (!heldIds.includes(id)) onAssign(id);
        for (const id of heldIds) if (!chosen.includes(id)) onRemove(id);
      }}
    />
  );
}
