import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  OperationTypeNode,
} from 'graphql';
import type { Once } from '../context.ts';
import { requestError } from '../request-error.ts';
import { selectedFieldsOf } from '../selected-fields.ts';

/** The header by which a client learns that the answer is that of an earlier request. */
export const replayedHeader = 'Idempotency-Replayed';

/**
 * The key of a request, from its header: bare, or a string as in RFC 9651 §3.3.3.
 *
 * @param header The value of `Idempotency-Key`; undefined without one.
 * @throws BAD_USER_INPUT when it is no key.
 */
export function onceOf(
  header: string | readonly string[] | undefined,
  replayed: () => void,
): Once | undefined {
  if (header === undefined) return undefined;
  const text = String(header);
  const key = text.startsWith('"') ? stringOf(text) : text;
  if (key !== undefined && /^[\x21-\x7e]{1,255}$/.test(key)) return { key, replayed };
  throw requestError(
    'BAD_USER_INPUT',
    'The header Idempotency-Key has 1 to 255 visible ASCII characters, bare or within double quotes.',
  );
}

const stringOf = (text: string): string | undefined =>
  /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1]?.replaceAll(/\\(.)/g, '$1');

/**
 * Checks that an operation can have an `Idempotency-Key`.
 *
 * @throws BAD_USER_INPUT unless the operation is a mutation of one root field.
 */
export function assertOneMutation(document: DocumentNode, operationName?: string | null): void {
  if (isOneMutation(document, operationName)) return;
  throw requestError(
    'BAD_USER_INPUT',
    'With the header Idempotency-Key, the operation is a mutation of one root field.',
  );
}

function isOneMutation(document: DocumentNode, operationName?: string | null): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return false;
  const fragments = document.definitions.filter(
    (definition): definition is FragmentDefinitionNode =>
      definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  const fields = selectedFieldsOf(operation, (name) =>
    fragments.find((fragment) => fragment.name.value === name),
  );
  return fields.length === 1;
}
