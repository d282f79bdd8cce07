import { useNavigate } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import type { RoleType } from '../generated/graphql.ts';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../kit/forms/choices.tsx';
import { filledText, newDescribed } from '../kit/forms/described.ts';
import { CheckField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { CreateRole } from './documents.ts';
import { roleMessages } from './messages.ts';

const roleTypes = ['USER', 'MACHINE_TO_MACHINE'] as const satisfies readonly RoleType[];

/** Creates a role, then opens its page, where scopes are added. */
export function CreateRoleDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(roleMessages);
  return (
    <Dialog title={t.create} isOpen={isOpen} onClose={onClose} size="wide">
      <CreationForm onCancel={onClose} />
    </Dialog>
  );
}

function CreationForm({ onCancel }: { onCancel: () => void }) {
  const t = useMessages(roleMessages);
  const texts = useMessages(formMessages);
  const navigate = useNavigate();
  return (
    <ActionForm
      document={CreateRole}
      schema={z.object({
        name: filledText(texts.required),
        type: z.enum(roleTypes),
        description: z.string(),
        isDefault: z.boolean(),
      })}
      values={{ name: '', type: 'USER' as RoleType, description: '', isDefault: false }}
      toInput={({ name, type, description, isDefault }) => ({
        ...newDescribed({ name, description }),
        type,
        ...(type === 'USER' && isDefault ? { isDefault } : {}),
      })}
      onDone={({ role }) => {
        toast.done(t.created(role.name));
        void navigate({ to: '/roles/$id', params: { id: role.id } });
      }}
      submit={t.create}
      onCancel={onCancel}
    >
      <TextField name="name" label={t.name} hasFocus />
      <RadioCards
        name="type"
        label={t.type}
        hint={t.typeHint}
        choices={choicesOf(roleTypes, t.types, t.typeTexts)}
      />
      <TextField name="description" label={t.description} isOptional />
      <DefaultRole />
    </ActionForm>
  );
}

function DefaultRole() {
  const t = useMessages(roleMessages);
  const type = useWatch({ name: 'type' }) as RoleType;
  if (type !== 'USER') return null;
  return <CheckField name="isDefault" label={t.isDefault} hint={t.defaultHint} />;
}
