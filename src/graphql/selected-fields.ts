import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** The fields that an operation or a field selects, also those within fragments. */
export function selectedFieldsOf(
  { selectionSet }: { readonly selectionSet: SelectionSetNode },
  fragmentOf: (name: string) => FragmentDefinitionNode | null | undefined,
): FieldNode[] {
  const seen = new Set<string>();
  const fieldsOf = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet);
      const name = selection.name.value;
      // A validation rule refuses fragment cycles.
      if (seen.has(name)) return [];
      seen.add(name);
      const fragment = fragmentOf(name);
      return fragment ? fieldsOf(fragment.selectionSet) : [];
    });
  return fieldsOf(selectionSet);
}
