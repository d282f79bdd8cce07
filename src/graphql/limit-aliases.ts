import type { ASTVisitor, ValidationContext } from 'graphql';
import { limits } from './builder.ts';
import { requestError } from './request-error.ts';

/** A validation rule: a document has no more aliases than {@link limits} allows. Each may cost a query. */
export function limitAliases(context: ValidationContext): ASTVisitor {
  let count = 0;
  return {
    Field({ alias }) {
      if (!alias) return;
      count += 1;
      if (count === limits.aliases + 1) {
        context.reportError(
          requestError(
            'QUERY_TOO_COMPLEX',
            `The document has more than ${limits.aliases} aliases.`,
          ),
        );
      }
    },
  };
}
