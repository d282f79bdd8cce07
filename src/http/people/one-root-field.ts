import {
  type ASTVisitor,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { requestError } from '../../graphql/request-error.ts';

/** A validation rule: each operation has one root field, without an alias. */
function oneRootField(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const fields = rootFields(context, operation);
      if (fields.length === 1 && fields.every(({ alias }) => alias === undefined)) return;
      context.reportError(
        requestError('QUERY_TOO_COMPLEX', 'A request has one root field, without an alias.'),
      );
    },
  };
}

function rootFields(context: ValidationContext, operation: OperationDefinitionNode): FieldNode[] {
  const seen = new Set<string>();
  const fieldsOf = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet);
      const name = selection.name.value;
      // Another rule refuses fragments in a ring.
      if (seen.has(name)) return [];
      seen.add(name);
      const fragment = context.getFragment(name);
      return fragment ? fieldsOf(fragment.selectionSet) : [];
    });
  return fieldsOf(operation.selectionSet);
}

/** Refuses operations with more than one root field, or with an alias for it. */
export const oneRootFieldPlugin: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(oneRootField);
  },
};
