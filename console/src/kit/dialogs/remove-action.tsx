import type { TypedDocumentNode } from '@urql/core';
import type { PayloadOfDocument } from '../api/use-action.ts';
import { useMessages } from '../language/language.ts';
import { ConfirmAction } from './confirm-action.tsx';
import { dialogMessages } from './messages.ts';

/** A cross that removes an entry from a record after a confirmation. */
export function RemoveAction<Data extends object, Input extends object>({
  label,
  document,
  input,
  onDone,
}: {
  /** Such as `Remove Viewer`. */
  label: string;
  document: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
  onDone?:
    | ((payload: PayloadOfDocument<TypedDocumentNode<Data, { input: Input }>>) => void)
    | undefined;
}) {
  const t = useMessages(dialogMessages);
  return (
    <ConfirmAction
      label={label}
      title={`${label}?`}
      text={t.removeText}
      document={document}
      input={input}
      onDone={onDone}
      kind="danger"
      isCross
    />
  );
}
