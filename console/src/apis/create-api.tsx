import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { Dialog } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import { useMessages } from '../language/language.ts';
import { CreateApi } from './documents.ts';
import { longestSeconds } from './lifetime.ts';
import { apiPageMessages } from './messages.ts';

const defaultSeconds = 3600;

/** Creates an API, and leads to its page, where it gets its scopes. */
export function CreateApiDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(apiPageMessages);
  return (
    <Dialog title={t.create} isOpen={isOpen} onClose={onClose}>
      <CreationForm onCancel={onClose} />
    </Dialog>
  );
}

function CreationForm({ onCancel }: { onCancel: () => void }) {
  const t = useMessages(apiPageMessages);
  const texts = useMessages(formMessages);
  const navigate = useNavigate();
  return (
    <ActionForm
      document={CreateApi}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        indicator: z.string().check(z.trim(), z.minLength(1, texts.required)),
        accessTokenTtlSeconds: z
          .int(t.lifetimeBounds)
          .check(z.gte(1, t.lifetimeBounds), z.lte(longestSeconds, t.lifetimeBounds)),
      })}
      values={{ name: '', indicator: '', accessTokenTtlSeconds: defaultSeconds }}
      toInput={({ name, indicator, accessTokenTtlSeconds }) => ({
        name: name.trim(),
        indicator: indicator.trim(),
        accessTokenTtlSeconds,
      })}
      onDone={({ resource }) => {
        toast.done(t.created(resource.name));
        void navigate({ to: '/apis/$id', params: { id: resource.id } });
      }}
      submit={t.create}
      onCancel={onCancel}
      cancel={t.cancel}
    >
      <TextField name="name" label={t.name} hasFocus />
      <TextField
        name="indicator"
        label={t.indicator}
        hint={t.indicatorHint}
        placeholder="https://orders.example.com"
        isCode
      />
      <TextField
        name="accessTokenTtlSeconds"
        type="number"
        label={t.lifetimeSeconds}
        hint={t.lifetimeHint}
      />
    </ActionForm>
  );
}
