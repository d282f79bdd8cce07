import { type ReactNode, useId, useState } from 'react';
import { refresh } from '../../kit/api/refresh.ts';
import { refusalIn, rootResult } from '../../kit/api/refusal.ts';
import { send } from '../../kit/api/send.ts';
import { Button } from '../../kit/controls/button.tsx';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { SearchPicker } from '../../kit/controls/search-picker.tsx';
import { Dialog, DialogFooter } from '../../kit/dialogs/dialog.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { searchRoles } from '../../kit/records/search-records.ts';
import { saveFile } from '../../kit/save-file.ts';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import {
  AssignUserRoles,
  DeleteUser,
  SignOutUser,
  UpdateUserSuspensionStatus,
} from '../documents.ts';
import styles from './bulk.module.css';
import { csvOf, type ListedUser } from './csv.ts';
import { bulkMessages } from './messages.ts';

/** The mutation of each action that is confirmed, and its input for one user. */
const confirmed = {
  suspend: {
    document: UpdateUserSuspensionStatus,
    input: (id: string) => ({ id, isSuspended: true }),
  },
  reactivate: {
    document: UpdateUserSuspensionStatus,
    input: (id: string) => ({ id, isSuspended: false }),
  },
  signOut: { document: SignOutUser, input: (id: string) => ({ id }) },
  delete: { document: DeleteUser, input: (id: string) => ({ id }) },
} as const;

type Confirmed = keyof typeof confirmed;

/** What is about to be done, and to whom. */
interface Asked {
  readonly action: Confirmed | 'role';
  readonly users: readonly ListedUser[];
  readonly onDone?: (() => void) | undefined;
}

/** Runs a mutation for one user after the other. Returns why some failed. */
async function runForEach(
  users: readonly ListedUser[],
  run: (id: string) => Promise<object>,
  onProgress: (done: number) => void,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const [index, { id }] of users.entries()) {
    try {
      const refusal = refusalIn(rootResult(await run(id)));
      if (refusal) failures.push(refusal.message);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
    onProgress(index + 1);
  }
  refresh();
  return failures;
}

/** What can be done with several users at once. The dialogs that ask first are `dialogs`. */
export function useBulk() {
  const t = useMessages(bulkMessages);
  const canAssign = useCan('roles:read');
  const [asked, setAsked] = useState<Asked>();
  const actions = (users: readonly ListedUser[], clear: () => void): ReactNode => {
    const ask = (action: Asked['action']) => () => setAsked({ action, users, onDone: clear });
    return (
      <>
        {users.some(({ isSuspended }) => !isSuspended) && (
          <Button size="small" onClick={ask('suspend')}>
            {t.labels.suspend}
          </Button>
        )}
        {users.some(({ isSuspended }) => isSuspended) && (
          <Button size="small" onClick={ask('reactivate')}>
            {t.labels.reactivate}
          </Button>
        )}
        <Button size="small" onClick={ask('signOut')}>
          {t.labels.signOut}
        </Button>
        {canAssign && (
          <Button size="small" onClick={ask('role')}>
            {t.role}
          </Button>
        )}
        <Button size="small" onClick={() => saveFile('users.csv', csvOf(users), 'text/csv')}>
          {t.export}
        </Button>
        <Button size="small" onClick={ask('delete')}>
          {t.labels.delete}
        </Button>
      </>
    );
  };
  return {
    actions,
    ask: setAsked,
    dialogs: asked && <Ask key={asked.action} asked={asked} onClose={() => setAsked(undefined)} />,
  };
}

function Ask({ asked, onClose }: { asked: Asked; onClose: () => void }) {
  const t = useMessages(bulkMessages);
  const [done, setDone] = useState<number>();
  const { action, users, onDone } = asked;
  const { length } = users;
  const run = async (runOne: (id: string) => Promise<object>) => {
    setDone(0);
    const failures = await runForEach(users, runOne, setDone);
    if (failures.length > 0) toast.failed(t.failed(failures.length, length), failures[0] ?? '');
    if (failures.length < length) toast.done(t.done[action](length - failures.length));
    setDone(undefined);
    onClose();
    onDone?.();
  };
  return (
    <Dialog
      title={t.titles[action](length)}
      description={t.texts[action]}
      isOpen
      onClose={onClose}
      size="small"
      isUrgent={action !== 'role'}
    >
      {done !== undefined && <p role="status">{t.running(done, length)}</p>}
      {action === 'role' ? (
        <SearchPicker
          label={t.searchRoles}
          search={searchRoles('USER')}
          onPick={({ key }) =>
            void run((id) => send(AssignUserRoles, { input: { userId: id, roleIds: [key] } }))
          }
        />
      ) : (
        <Confirm
          action={action}
          users={users}
          isRunning={done !== undefined}
          onCancel={onClose}
          onConfirm={() => {
            const { document, input } = confirmed[action];
            // Each input is that of its own document.
            void run((id) => send(document as typeof DeleteUser, { input: input(id) }));
          }}
        />
      )}
    </Dialog>
  );
}

function Confirm({
  action,
  users,
  isRunning,
  onCancel,
  onConfirm,
}: {
  action: Confirmed;
  users: readonly ListedUser[];
  isRunning: boolean;
  onCancel: () => void;
  onConfirm: () => void;
}) {
  const t = useMessages(bulkMessages);
  const id = useId();
  const [typed, setTyped] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const { document, input } = confirmed[action];
  const confirm = () => {
    const differs = action === 'delete' && typed.trim() !== String(users.length);
    setIsWrong(differs);
    if (!differs) onConfirm();
  };
  return (
    <>
      {action === 'delete' && (
        <div className={styles.typed}>
          <label htmlFor={id}>{t.typeToConfirm(users.length)}</label>
          <input
            id={id}
            className={styles.input}
            value={typed}
            inputMode="numeric"
            autoComplete="off"
            aria-invalid={isWrong}
            aria-describedby={isWrong ? `${id}-error` : undefined}
            onChange={({ target }) => setTyped(target.value)}
          />
          {isWrong && (
            <p id={`${id}-error`} className={styles.error}>
              {t.differs}
            </p>
          )}
        </div>
      )}
      <DialogFooter start={<CopyAs document={document} input={() => input(users[0]?.id ?? '')} />}>
        <Button onClick={onCancel}>{t.cancel}</Button>
        <Button
          kind={action === 'delete' || action === 'suspend' ? 'danger' : 'primary'}
          isBusy={isRunning}
          onClick={confirm}
        >
          {t.labels[action]}
        </Button>
      </DialogFooter>
    </>
  );
}
