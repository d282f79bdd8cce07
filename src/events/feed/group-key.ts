import { type DocumentNode, Kind, type OperationDefinitionNode, print, visit } from 'graphql';
import type { EventOperation } from './results.ts';

const documentKeys = new WeakMap<DocumentNode, { text: string; variables: string[] }>();

// The key leaves out `after`. The cursor does not change an event's result, and after a reconnect each subscriber has
// its own.
function documentKey(document: DocumentNode) {
  const known = documentKeys.get(document);
  if (known) return known;
  const stripped = {
    ...document,
    definitions: document.definitions.map((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? withoutCursor(definition) : definition,
    ),
  };
  const variables = new Set<string>();
  visit(stripped, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void variables.add(name.value),
  });
  const used = visit(stripped, {
    VariableDefinition: ({ variable }) => (variables.has(variable.name.value) ? undefined : null),
  });
  const key = { text: print(used), variables: [...variables].sort() };
  documentKeys.set(document, key);
  return key;
}

const withoutCursor = (operation: OperationDefinitionNode): OperationDefinitionNode => ({
  ...operation,
  selectionSet: {
    ...operation.selectionSet,
    selections: operation.selectionSet.selections.map((selection) =>
      selection.kind === Kind.FIELD
        ? {
            ...selection,
            arguments: selection.arguments?.filter(({ name }) => name.value !== 'after'),
          }
        : selection,
    ),
  },
});

/**
 * The key of the group of subscribers that get the same results. It holds the reader's scopes and not the reader, so a
 * field of an event may depend on nothing else about the reader.
 */
export function groupKey({
  document,
  operationName,
  variableValues,
  caller,
}: EventOperation): string {
  const { text, variables } = documentKey(document);
  return JSON.stringify([
    text,
    operationName ?? null,
    // An absent variable takes its default; null does not.
    variables.map((name) =>
      variableValues && name in variableValues ? [variableValues[name]] : [],
    ),
    [...caller.scopes].sort(),
  ]);
}
