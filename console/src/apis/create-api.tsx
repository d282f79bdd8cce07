import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { useAction } from '../kit/api/use-action.ts';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { filledText } from '../kit/forms/described.ts';
import { TextAreaField, TextField } from '../kit/forms/fields.tsx';
import { filled } from '../kit/forms/list-field.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { AlgorithmField, algorithmOf } from './algorithm-field.tsx';
import { CreateApi, CreateScope } from './documents.ts';
import { LifetimeField, useLifetimeSchema } from './lifetime-field.tsx';
import { apiPageMessages } from './messages.ts';

const defaultSeconds = 3600;

/** The names in a text that has one a line, each once. */
const namesIn = (text: string): readonly string[] => [...new Set(filled(text.split('\n')))];

/** A scope token (RFC 6749 §3.3). */
const isScopeName = (name: string): boolean => /^[!#-[\]-~]{1,128}$/.test(name);

/** Creates an API with its scopes, then opens its page. */
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
  const addScope = useAction(CreateScope);
  const addScopes = async (resourceId: string, names: readonly string[]) => {
    for (const name of names) {
      const outcome = await addScope.run({ resourceId, name });
      if (outcome.kind === 'refused') toast.failed(name, outcome.refusal.issues[0]?.message);
      if (outcome.kind === 'failed') return;
    }
  };
  return (
    <ActionForm
      document={CreateApi}
      schema={z.object({
        name: filledText(texts.required),
        indicator: filledText(texts.required),
        scopes: z.string().check(z.refine((text) => namesIn(text).every(isScopeName), t.notScopes)),
        accessTokenTtlSeconds: useLifetimeSchema(),
        signingAlg: z.string(),
      })}
      values={{
        ...{ name: '', indicator: '', scopes: '' },
        ...{ accessTokenTtlSeconds: defaultSeconds, signingAlg: '' },
      }}
      toInput={({ name, indicator, accessTokenTtlSeconds, signingAlg }) => ({
        name: name.trim(),
        indicator: indicator.trim(),
        accessTokenTtlSeconds,
        signingAlg: algorithmOf(signingAlg),
      })}
      onDone={({ resource }, { scopes }) => {
        toast.done(t.created(resource.name));
        void addScopes(resource.id, namesIn(scopes));
        void navigate({ to: '/apis/$id', params: { id: resource.id } });
      }}
      submit={t.create}
      onCancel={onCancel}
    >
      <TextField name="name" label={t.name} hasFocus />
      <TextField
        name="indicator"
        label={t.indicator}
        hint={t.indicatorHint}
        placeholder="https://orders.example.com"
        isCode
      />
      <TextAreaField
        name="scopes"
        label={t.scopes}
        hint={t.scopesHint}
        placeholder={'orders:read\norders:write'}
        isOptional
        isCode
      />
      <LifetimeField />
      <AlgorithmField />
    </ActionForm>
  );
}
