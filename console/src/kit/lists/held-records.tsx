import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import type { RoleType } from '../../generated/graphql.ts';
import { PickAction, type PickActionProps } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { useMessages } from '../language/language.ts';
import { searchRoles } from '../records/search-records.ts';
import { aboveRowLink } from './data-table.tsx';
import { List, type ListProps } from './list-page.tsx';
import { listMessages } from './messages.ts';
import { NamedRowLink } from './row-link.tsx';

/** How to remove a row from the list. */
interface Removal<Row, Removed extends object, Input extends object> {
  /** Such as `Remove Viewer`. */
  readonly label: (row: Row) => string;
  readonly document: TypedDocumentNode<Removed, { input: Input }>;
  readonly input: (row: Row) => Input;
  readonly onDone?: (row: Row) => void;
}

/**
 * The records that another record holds. A combobox adds one, and a cross in its row removes it, both at once. `add`
 * and `remove` are false if the person may not do that.
 */
export function HeldRecords<
  Data,
  Variables extends AnyVariables,
  Row extends { readonly id: string },
  Added extends object,
  AddInput extends object,
  Removed extends object,
  RemoveInput extends object,
>({
  add,
  remove,
  columns,
  ...list
}: ListProps<Data, Variables, Row> & {
  add: false | PickActionProps<Added, AddInput>;
  remove: false | Removal<Row, Removed, RemoveInput>;
}) {
  return (
    <>
      {add && <PickAction {...add} />}
      <List
        {...list}
        columns={[
          ...columns,
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: (row) =>
              remove && (
                <span className={aboveRowLink}>
                  <RemoveAction
                    label={remove.label(row)}
                    document={remove.document}
                    input={remove.input(row)}
                    onDone={() => remove.onDone?.(row)}
                  />
                </span>
              ),
          },
        ]}
      />
    </>
  );
}

interface Role {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
}

/** The roles that a user, or a machine-to-machine application, holds. */
export function HeldRoles<
  Data,
  Variables extends AnyVariables,
  Added extends object,
  AddInput extends object,
  Removed extends object,
  RemoveInput extends object,
>({
  type,
  assign,
  remove,
  ...list
}: Pick<ListProps<Data, Variables, Role>, 'document' | 'variables' | 'connection' | 'empty'> & {
  type: RoleType;
  assign: false | Pick<PickActionProps<Added, AddInput>, 'document' | 'input'>;
  remove: false | Pick<Removal<Role, Removed, RemoveInput>, 'document' | 'input'>;
}) {
  const t = useMessages(listMessages);
  return (
    <HeldRecords
      {...list}
      label={t.roles}
      hasSearch={false}
      add={
        assign && {
          ...assign,
          label: t.assignRole,
          placeholder: t.assignRolePlaceholder[type],
          search: searchRoles(type),
        }
      }
      remove={remove && { ...remove, label: ({ name }) => t.removeNamed(name) }}
      columns={[
        { id: 'name', header: t.name, cell: (row) => <NamedRowLink to="/roles/$id" of={row} /> },
        {
          id: 'description',
          header: t.description,
          from: 'medium',
          cell: ({ description }) => description,
        },
      ]}
    />
  );
}
