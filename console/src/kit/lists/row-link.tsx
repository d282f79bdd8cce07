import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './data-table.module.css';

/** The link in a row's first cell, to the record's page. The whole row leads there. */
export const RowLink = ({
  to,
  id,
  children,
}: {
  to:
    | '/apis/$id'
    | '/applications/$id'
    | '/organizations/$id'
    | '/roles/$id'
    | '/users/$id'
    | '/webhooks/$id';
  id: string;
  children: ReactNode;
}) => (
  <Link
    to={to}
    params={{ id }}
    className={styles.rowLink}
    title={typeof children === 'string' ? children : undefined}
  >
    {children}
  </Link>
);

/** The link of a record that has a name. */
export const NamedRowLink = ({
  to,
  of: { id, name },
}: {
  to: Parameters<typeof RowLink>[0]['to'];
  of: { readonly id: string; readonly name: string };
}) => (
  <RowLink to={to} id={id}>
    {name}
  </RowLink>
);
