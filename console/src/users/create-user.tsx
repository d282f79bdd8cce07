import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { PasswordField, TextField } from '../kit/forms/fields.tsx';
import { useMessages } from '../kit/language/language.ts';
import { shownName } from '../kit/records/shown-name.ts';
import { toast } from '../kit/toasts.ts';
import { CreateUser } from './documents.ts';
import { userMessages } from './messages.ts';

/** Creates a user, then opens their page. */
export function CreateUserDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(userMessages);
  const navigate = useNavigate();
  return (
    <Dialog title={t.create} isOpen={isOpen} onClose={onClose}>
      <ActionForm
        document={CreateUser}
        schema={z
          .object({
            name: z.string(),
            username: z.string(),
            primaryEmail: z.string(),
            primaryPhone: z.string(),
            password: z.string(),
          })
          .check(
            z.refine(
              ({ password: _, ...texts }) =>
                Object.values(texts).some((text) => text.trim() !== ''),
              { path: ['username'], error: t.oneIsNeeded },
            ),
          )}
        values={{ name: '', username: '', primaryEmail: '', primaryPhone: '', password: '' }}
        toInput={({ password, ...texts }) => ({
          ...Object.fromEntries(
            Object.entries(texts)
              .map(([name, text]) => [name, text.trim()])
              .filter(([, text]) => text),
          ),
          ...(password ? { password } : {}),
        })}
        onDone={({ user }) => {
          toast.done(t.created(shownName(user)));
          void navigate({ to: '/users/$id', params: { id: user.id } });
        }}
        submit={t.create}
        onCancel={onClose}
      >
        <TextField name="username" label={t.username} hint={t.usernameHint} isOptional hasFocus />
        <TextField name="primaryEmail" type="email" label={t.email} isOptional />
        <TextField name="primaryPhone" type="tel" label={t.phone} hint={t.phoneHint} isOptional />
        <TextField name="name" label={t.name} isOptional />
        <PasswordField name="password" label={t.password} hint={t.passwordHint} isOptional />
      </ActionForm>
    </Dialog>
  );
}
