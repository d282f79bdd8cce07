import { useNavigate } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import { Dialog } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { RadioCards } from '../forms/choices.tsx';
import { CheckField, TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { RoleType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { CreateRole } from './documents.ts';
import { roleMessages } from './messages.ts';

const roleTypes = ['USER', 'MACHINE_TO_MACHINE'] as const satisfies readonly RoleType[];

/** Creates a role, and leads to its page, where it gets its scopes. */
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
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        type: z.enum(roleTypes),
        description: z.string(),
        isDefault: z.boolean(),
      })}
      values={{ name: '', type: 'USER' as RoleType, description: '', isDefault: false }}
      toInput={({ name, type, description, isDefault }) => ({
        name: name.trim(),
        type,
        ...(description.trim() ? { description: description.trim() } : {}),
        ...(type === 'USER' && isDefault ? { isDefault } : {}),
      })}
      onDone={({ role }) => {
        toast.done(t.created(role.name));
        void navigate({ to: '/roles/$id', params: { id: role.id } });
      }}
      submit={t.create}
      onCancel={onCancel}
      cancel={t.cancel}
    >
      <TextField name="name" label={t.name} hasFocus />
      <RadioCards
        name="type"
        label={t.type}
        hint={t.typeHint}
        choices={roleTypes.map((value) => ({
          value,
          label: t.types[value],
          description: t.typeTexts[value],
        }))}
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
