import type { TypedDocumentNode } from '@urql/core';
import { useRef } from 'react';
import { useAction } from '../api/use-action.ts';
import { CopyAs } from '../controls/copy-as.tsx';
import { type Pick, SearchPicker } from '../controls/search-picker.tsx';
import styles from './pick-action.module.css';
import { toast } from './toasts.ts';

/** What stands for the record in what is copied, as long as none is found. */
const unknownKey = '…';

/** A combobox that runs a mutation with what is picked, at once. */
export function PickAction<Data extends object, Input extends object>({
  label,
  placeholder,
  search,
  document,
  input,
  onDone,
}: {
  label: string;
  placeholder?: string;
  search: (text: string, signal: AbortSignal) => Promise<readonly Pick[]>;
  document: TypedDocumentNode<Data, { input: Input }>;
  input: (key: string) => Input;
  onDone?: (item: Pick) => void;
}) {
  const { run } = useAction(document);
  const first = useRef<string>(undefined);
  return (
    <div className={styles.row}>
      <SearchPicker
        label={label}
        placeholder={placeholder}
        search={async (text, signal) => {
          const found = await search(text, signal);
          first.current = found[0]?.key;
          return found;
        }}
        onPick={async (item) => {
          const outcome = await run(input(item.key));
          if (outcome.kind === 'refused') {
            toast.failed(outcome.refusal.issues[0]?.message ?? outcome.refusal.message);
          }
          if (outcome.kind === 'done') onDone?.(item);
        }}
      />
      <CopyAs document={document} input={() => input(first.current ?? unknownKey)} />
    </div>
  );
}
