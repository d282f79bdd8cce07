import type { ASTVisitor, ValidationContext } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { requestError } from '../../graphql/request-error.ts';
import { selectedFieldsOf } from '../../graphql/selected-fields.ts';

/** A validation rule: each operation has one root field, without an alias. */
function oneRootField(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const fields = selectedFieldsOf(operation, (name) => context.getFragment(name));
      if (fields.length === 1 && fields.every(({ alias }) => alias === undefined)) return;
      context.reportError(
        requestError('QUERY_TOO_COMPLEX', 'A request has one root field, without an alias.'),
      );
    },
  };
}

/** Refuses operations with more than one root field, or with an alias for it. */
export const oneRootFieldPlugin: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(oneRootField);
  },
};
