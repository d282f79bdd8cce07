import type { TypedDocumentNode } from '@urql/core';
import { useRef } from 'react';
import { useAction } from '../api/use-action.ts';
import { CopyAs } from '../controls/copy-as.tsx';
import { type Pick, SearchPicker } from '../controls/search-picker.tsx';
import { toast } from '../toasts.ts';
import styles from './pick-action.module.css';

/** The id in what is copied, as long as no record is found. */
const unknownKey = '…';

/** The mutation that a combobox runs, and its input. */
export interface PickActionProps<Data extends object, Input extends object> {
  readonly label: string;
  readonly placeholder?: string;
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly Pick[]>;
  readonly document: TypedDocumentNode<Data, { input: Input }>;
  readonly input: (key: string) => Input;
  readonly onDone?: (item: Pick) => void;
}

/** A combobox that runs a mutation with the picked record at once. */
export function PickAction<Data extends object, Input extends object>({
  label,
  placeholder,
  search,
  document,
  input,
  onDone,
}: PickActionProps<Data, Input>) {
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
