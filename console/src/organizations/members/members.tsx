import { Link } from '@tanstack/react-router';
import type { TypedDocumentNode } from '@urql/core';
import type { RoleType } from '../../generated/graphql.ts';
import { useAction } from '../../kit/api/use-action.ts';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { PickAction, type PickActionProps } from '../../kit/dialogs/pick-action.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { aboveRowLink, type Column, rowLink } from '../../kit/lists/data-table.tsx';
import { type Connection, List, type ListVariables, pageIn } from '../../kit/lists/list-page.tsx';
import { linkTo } from '../../kit/records/links.ts';
import { useCan } from '../../kit/session/session.ts';
import { organizationMessages } from '../messages.ts';
import styles from '../organizations.module.css';
import { type Named, RolesInPlace, useRoleChoices } from './roles-in-place.tsx';
import { showRefusal } from './show-refusal.ts';

interface Membership {
  readonly id: string;
  readonly createdAt: string;
  readonly roles: { readonly edges: readonly { readonly node: Named }[] };
}

/** The members of an organization, users or applications, and their roles. Each change applies at once. */
export function Members<
  Data,
  Row extends Membership,
  Member extends object,
  Added extends object,
  AddInput extends object,
  Assigned extends object,
  Unassigned extends object,
  Removed extends object,
>({
  label,
  header,
  type,
  organizationId,
  document,
  connection,
  memberOf,
  columns = [],
  add,
  inputOf,
  assign: assignment,
  unassign: unassignment,
  remove,
  empty,
}: {
  label: string;
  /** The header of the column with the names. */
  header: string;
  /** The type of the roles that they can hold. */
  type: RoleType;
  organizationId: string;
  document: TypedDocumentNode<Data, { id: string } & ListVariables>;
  connection: (data: Data) => Connection<Row> | null | undefined;
  /** The member; null if the person may not see it. */
  memberOf: (row: Row) => Named | null | undefined;
  columns?: readonly Column<Row>[];
  add: false | PickActionProps<Added, AddInput>;
  /** The input that names a member in mutations. */
  inputOf: (memberId: string) => Member;
  assign: TypedDocumentNode<
    Assigned,
    { input: Member & { organizationId: string; organizationRoleIds: string[] } }
  >;
  unassign: TypedDocumentNode<
    Unassigned,
    { input: Member & { organizationId: string; organizationRoleId: string } }
  >;
  remove: TypedDocumentNode<Removed, { input: Member & { organizationId: string } }>;
  empty: string;
}) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const choices = useRoleChoices(type);
  const assign = useAction(assignment);
  const unassign = useAction(unassignment);
  const inputFor = (member: Named) => ({ organizationId, ...inputOf(member.id) });
  return (
    <>
      {canWrite && add && <PickAction {...add} />}
      <List
        label={label}
        hasSearch={false}
        document={document}
        variables={(address) => ({ id: organizationId, ...pageIn(address) })}
        connection={connection}
        columns={[
          {
            id: 'name',
            header,
            cell: (row) => {
              const member = memberOf(row);
              return member ? (
                <Link to={linkTo(member.id)?.to ?? '.'} className={rowLink}>
                  {member.name}
                </Link>
              ) : (
                <span className={styles.about}>{t.hidden}</span>
              );
            },
          },
          ...columns,
          {
            id: 'roles',
            header: t.roles,
            cell: (row) => {
              const member = memberOf(row);
              return (
                <span className={aboveRowLink}>
                  <RolesInPlace
                    held={row.roles.edges.map(({ node }) => node)}
                    choices={choices}
                    isReadOnly={!canWrite || !member}
                    copyAs={(organizationRoleIds) =>
                      member && (
                        <CopyAs
                          document={assignment}
                          input={{
                            ...inputFor(member),
                            organizationRoleIds: [...organizationRoleIds],
                          }}
                        />
                      )
                    }
                    onAssign={(roleId) =>
                      member &&
                      void showRefusal(
                        assign.run({ ...inputFor(member), organizationRoleIds: [roleId] }),
                      )
                    }
                    onRemove={(organizationRoleId) =>
                      member &&
                      void showRefusal(unassign.run({ ...inputFor(member), organizationRoleId }))
                    }
                  />
                </span>
              );
            },
          },
          {
            id: 'joinedAt',
            header: t.joinedAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: (row) => {
              const member = memberOf(row);
              return (
                canWrite &&
                member && (
                  <span className={aboveRowLink}>
                    <ConfirmAction
                      label={t.removeMember}
                      title={t.removeTitle(member.name)}
                      text={t.removeText}
                      document={remove}
                      input={inputFor(member)}
                      kind="danger"
                      size="small"
                    />
                  </span>
                )
              );
            },
          },
        ]}
        empty={<p className={styles.about}>{empty}</p>}
      />
    </>
  );
}
