import { Link } from '@tanstack/react-router';
import type { SourceFragment } from '../generated/graphql.ts';
import { useMessages } from '../kit/language/language.ts';
import { aboveRowLink } from '../kit/lists/data-table.tsx';
import { permissionMessages } from './messages.ts';
import styles from './permissions.module.css';

/** The roles that give a scope, with links. */
export function Sources({ sources }: { sources: readonly SourceFragment[] }) {
  const t = useMessages(permissionMessages);
  if (sources.length === 0) return t.everybody;
  return (
    <ul className={styles.sources}>
      {sources.map(({ role, organizationRole, organization }) => (
        <li
          key={`${role?.id ?? organizationRole?.id} ${organization?.id}`}
          className={aboveRowLink}
        >
          {role && (
            <Link to="/roles/$id" params={{ id: role.id }}>
              {role.name}
            </Link>
          )}
          {organizationRole?.name}
          {organization && (
            <>
              {' '}
              {t.inOrganization}{' '}
              <Link to="/organizations/$id" params={{ id: organization.id }}>
                {organization.name}
              </Link>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
