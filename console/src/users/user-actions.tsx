import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import * as z from 'zod/mini';
import { Button } from '../kit/controls/button.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { PasswordField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { DeleteRecord } from '../kit/records/delete-record.tsx';
import { shownName } from '../kit/records/shown-name.ts';
import { toast } from '../kit/toasts.ts';
import {
  DeleteUser,
  SignOutUser,
  UpdateUserPassword,
  UpdateUserSuspensionStatus,
} from './documents.ts';
import { userMessages } from './messages.ts';
import type { ShownUser } from './profile-tab.tsx';
import { Unlock } from './unlock.tsx';

/** The actions on a user. */
export function UserActions({ user }: { user: ShownUser }) {
  const t = useMessages(userMessages);
  const navigate = useNavigate();
  const { id, isSuspended } = user;
  const name = shownName(user);
  return (
    <>
      <ResetPassword user={user} />
      <Unlock user={user} />
      <ConfirmAction
        label={t.signOut}
        title={t.signOutTitle(name)}
        text={t.signOutText}
        document={SignOutUser}
        input={{ id }}
        onDone={() => toast.done(t.isSignedOut(name))}
      />
      {isSuspended ? (
        <ConfirmAction
          key="reactivate"
          label={t.reactivate}
          title={t.reactivateTitle(name)}
          text={t.reactivateText}
          document={UpdateUserSuspensionStatus}
          input={{ id, isSuspended: false }}
          onDone={() => toast.done(t.isActiveNow(name))}
        />
      ) : (
        <ConfirmAction
          key="suspend"
          label={t.suspend}
          title={t.suspendTitle(name)}
          text={t.suspendText}
          document={UpdateUserSuspensionStatus}
          input={{ id, isSuspended: true }}
          kind="danger"
          onDone={() => toast.done(t.isSuspendedNow(name))}
        />
      )}
      <DeleteRecord
        name={name}
        alsoDeleted={[t.deletesSessions, t.deletesRoles, t.deletesMemberships]}
        document={DeleteUser}
        input={{ id }}
        onDone={() => {
          toast.done(t.deleted(name));
          void navigate({ to: '/users' });
        }}
      />
    </>
  );
}

function ResetPassword({ user }: { user: ShownUser }) {
  const t = useMessages(userMessages);
  const texts = useMessages(formMessages);
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t.resetPassword}</Button>
      <Dialog
        title={t.resetPassword}
        description={t.resetText}
        isOpen={isOpen}
        onClose={close}
        size="small"
      >
        <ActionForm
          document={UpdateUserPassword}
          record={user}
          schema={z.object({ password: z.string().check(z.minLength(1, texts.required)) })}
          values={{ password: '' }}
          toInput={({ password }) => ({ id: user.id, password })}
          onDone={() => {
            close();
            toast.done(t.passwordIsReset);
          }}
          submit={t.resetPassword}
          onCancel={close}
        >
          <PasswordField name="password" label={t.newPassword} />
        </ActionForm>
      </Dialog>
    </>
  );
}
