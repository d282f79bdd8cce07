import { useEffect, useId, useRef, useState } from 'react';
import { refresh } from '../../kit/api/refresh.ts';
import { Button } from '../../kit/controls/button.tsx';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { Notice } from '../../kit/controls/notice.tsx';
import { Dialog, DialogFooter } from '../../kit/dialogs/dialog.tsx';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { DataTable } from '../../kit/lists/data-table.tsx';
import { saveFile } from '../../kit/save-file.ts';
import { ImportUsers } from '../documents.ts';
import { userMessages } from '../messages.ts';
import styles from '../users.module.css';
import { failuresFile, sampleFile } from './files.ts';
import {
  batchesOf,
  type FailedRow,
  importRows,
  type Progress,
  type ReadyRow,
} from './import-users.ts';
import { type Fault, fieldsOfRow, type Row, readUsers } from './read-users.ts';

const shownFailures = 200;
const shownRows = 5;

type State =
  | { readonly phase: 'choosing' }
  | { readonly phase: 'unreadable'; readonly fault: Fault }
  | { readonly phase: 'ready'; readonly rows: readonly Row[] }
  | {
      readonly phase: 'importing' | 'done' | 'broken';
      readonly rows: readonly Row[];
      readonly progress: Progress;
      readonly problem?: string;
    };

/** Imports users from a file, and shows its contents, the progress and the failed rows. */
export function ImportDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(userMessages);
  return (
    <Dialog title={t.importTitle} isOpen={isOpen} onClose={onClose} size="wide" isUrgent>
      <Import onClose={onClose} />
    </Dialog>
  );
}

function Import({ onClose }: { onClose: () => void }) {
  const t = useMessages(userMessages);
  const format = useFormat();
  const id = useId();
  const [state, setState] = useState<State>({ phase: 'choosing' });
  const ended = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    ended.current = controller;
    return () => controller.abort();
  }, []);
  const tell = ({ kind, field }: Fault): string => {
    const text = t[kind];
    return typeof text === 'string' ? text : text(field);
  };
  const read = async (file: File | undefined) => {
    if (!file) return setState({ phase: 'choosing' });
    const found = readUsers(await file.text());
    setState(
      'kind' in found ? { phase: 'unreadable', fault: found } : { phase: 'ready', rows: found },
    );
  };
  const start = async (rows: readonly Row[]) => {
    const unread = rows.flatMap((row) =>
      'fault' in row ? [{ row: row.row, who: '', reason: tell(row.fault) }] : [],
    );
    let progress: Progress = { done: unread.length, imported: 0, failures: unread };
    const signal = ended.current?.signal ?? AbortSignal.abort();
    setState({ phase: 'importing', rows, progress });
    try {
      await importRows(
        readyRows(rows),
        ({ done, imported, failures }) => {
          progress = {
            done: unread.length + done,
            imported,
            failures: [...unread, ...failures].sort((one, other) => one.row - other.row),
          };
          if (!signal.aborted) setState({ phase: 'importing', rows, progress });
        },
        signal,
      );
      if (!signal.aborted) setState({ phase: 'done', rows, progress });
    } catch (error) {
      const problem = error instanceof Error ? error.message : '';
      if (!signal.aborted) setState({ phase: 'broken', rows, progress, problem });
    } finally {
      if (progress.imported > 0) refresh();
    }
  };
  const isOver = state.phase === 'done' || state.phase === 'broken';
  return (
    <div className={styles.import}>
      {(state.phase === 'choosing' || state.phase === 'unreadable' || state.phase === 'ready') && (
        <>
          <p>
            {t.importText}{' '}
            {fieldsOfRow.map((field, index) => (
              <span key={field}>
                {index > 0 && ', '}
                <code>{field}</code>
              </span>
            ))}
          </p>
          <div className={styles.file}>
            <label htmlFor={id}>{t.file}</label>
            <input
              id={id}
              type="file"
              accept=".csv,.tsv,.txt,.json,text/csv,text/tab-separated-values,application/json"
              aria-invalid={state.phase === 'unreadable'}
              aria-describedby={`${id}-found`}
              onChange={(event) => void read(event.target.files?.[0])}
            />
            <Button size="small" onClick={() => saveFile('users.csv', sampleFile, 'text/csv')}>
              {t.sample}
            </Button>
          </div>
        </>
      )}
      <div id={`${id}-found`} role="status">
        {state.phase === 'unreadable' && <Notice tone="bad">{tell(state.fault)}</Notice>}
        {state.phase === 'ready' && (
          <Notice>
            {state.rows.length === 1
              ? t.oneRowFound
              : t.rowsFound(format.number(state.rows.length))}
          </Notice>
        )}
        {state.phase === 'importing' && (
          <p>{t.importing(format.number(state.progress.done), format.number(state.rows.length))}</p>
        )}
        {isOver && (
          <Notice tone={state.progress.imported > 0 ? 'good' : 'plain'}>
            {state.progress.imported === 1
              ? t.oneImported
              : t.imported(format.number(state.progress.imported))}
          </Notice>
        )}
        {state.phase === 'broken' && (
          <Notice tone="bad" title={t.broken}>
            {state.problem}
          </Notice>
        )}
      </div>
      {state.phase === 'ready' && <Preview rows={readyRows(state.rows).slice(0, shownRows)} />}
      {state.phase === 'importing' && (
        <progress
          className={styles.progress}
          aria-label={t.importTitle}
          max={state.rows.length}
          value={state.progress.done}
        />
      )}
      {isOver && <Failures failures={state.progress.failures} />}
      <DialogFooter
        start={
          state.phase === 'ready' && (
            <CopyAs document={ImportUsers} input={() => firstBatch(state.rows)} />
          )
        }
      >
        {isOver ? (
          <Button kind="primary" onClick={onClose}>
            {t.done}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t.cancel}</Button>
            <Button
              kind="primary"
              disabled={state.phase === 'choosing' || state.phase === 'unreadable'}
              isBusy={state.phase === 'importing'}
              onClick={() => state.phase === 'ready' && void start(state.rows)}
            >
              {t.import}
            </Button>
          </>
        )}
      </DialogFooter>
    </div>
  );
}

/** The first rows of the file, in the columns that they have. */
function Preview({ rows }: { rows: readonly ReadyRow[] }) {
  const t = useMessages(userMessages);
  const columns = fieldsOfRow.filter((field) => rows.some(({ user }) => user[field] != null));
  if (rows.length === 0) return null;
  return (
    <DataTable
      label={t.preview}
      rows={rows.map(({ row, user }) => ({ id: String(row), user }))}
      columns={columns.map((field) => ({
        id: field,
        header: field,
        cell: ({ user }: Pick<ReadyRow, 'user'>) => cellText(field, user[field]),
      }))}
    />
  );
}

// Passwords are not for the screen.
const cellText = (field: string, value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (field === 'password' || field === 'passwordDigest') return '••••';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

function Failures({ failures }: { failures: readonly FailedRow[] }) {
  const t = useMessages(userMessages);
  const format = useFormat();
  if (failures.length === 0) return null;
  return (
    <>
      <Notice
        tone="warn"
        title={failures.length === 1 ? t.oneFailure : t.failures(format.number(failures.length))}
      >
        {failures.length > shownFailures && t.firstFailures(format.number(shownFailures))}{' '}
        <Button
          size="small"
          onClick={() => saveFile('failed-rows.csv', failuresFile(failures), 'text/csv')}
        >
          {t.failuresFile}
        </Button>
      </Notice>
      <DataTable
        label={t.reason}
        rows={failures.slice(0, shownFailures).map((failure) => ({
          ...failure,
          id: String(failure.row),
        }))}
        columns={[
          { id: 'row', header: t.row, isNarrow: true, cell: ({ row }) => format.number(row) },
          { id: 'who', header: t.who, cell: ({ who }) => who },
          { id: 'reason', header: t.reason, wraps: true, cell: ({ reason }) => reason },
        ]}
      />
    </>
  );
}

const readyRows = (rows: readonly Row[]): readonly ReadyRow[] =>
  rows.filter((row) => 'user' in row);

const firstBatch = (rows: readonly Row[]) => ({
  users: batchesOf(readyRows(rows))[0]?.map(({ user }) => user) ?? [],
});
