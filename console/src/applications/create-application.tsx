import { useNavigate } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import type { ApplicationType } from '../generated/graphql.ts';
import { CreationDialog, type CreationFormProps } from '../kit/dialogs/creation-dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../kit/forms/choices.tsx';
import { filledText, newDescribed } from '../kit/forms/described.ts';
import { TextField } from '../kit/forms/fields.tsx';
import { filled, ListField } from '../kit/forms/list-field.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { CreateApplication } from './documents.ts';
import { applicationMessages } from './messages.ts';
import { ShownOnce } from './shown-once.tsx';
import { applicationTypes, signsIn } from './types.ts';

interface Created {
  readonly id: string;
  readonly secret: string | null;
}

/** Creates an application. Explains the four types, then shows the credentials once. */
export function CreateApplicationDialog({
  isOpen,
  onClose,
}: {
  isOpen: boolean;
  onClose: () => void;
}) {
  const t = useMessages(applicationMessages);
  const navigate = useNavigate();
  return (
    <CreationDialog<Created>
      texts={t}
      isOpen={isOpen}
      onClose={onClose}
      form={(actions) => <CreationForm {...actions} />}
      shownOnce={({ id, secret }) => <ShownOnce clientId={id} secret={secret} />}
      onOpenRecord={(id) => void navigate({ to: '/applications/$id', params: { id } })}
    />
  );
}

function CreationForm({ onCancel, onDone }: CreationFormProps<Created>) {
  const t = useMessages(applicationMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={CreateApplication}
      schema={z.object({
        type: z.enum(applicationTypes),
        name: filledText(texts.required),
        description: z.string(),
        redirectUris: z.array(z.string()),
      })}
      values={{
        type: 'TRADITIONAL' as ApplicationType,
        name: '',
        description: '',
        redirectUris: [''],
      }}
      toInput={({ type, name, description, redirectUris }) => ({
        type,
        ...newDescribed({ name, description }),
        ...(signsIn(type) ? { redirectUris: filled(redirectUris) } : {}),
      })}
      onDone={({ application, secret }) => onDone({ id: application.id, secret: secret ?? null })}
      submit={t.create}
      onCancel={onCancel}
    >
      <TextField name="name" label={t.name} hint={t.nameHint} hasFocus />
      <RadioCards
        name="type"
        label={t.type}
        choices={choicesOf(applicationTypes, t.types, t.typeTexts)}
      />
      <RedirectUris />
      <TextField name="description" label={t.description} isOptional />
    </ActionForm>
  );
}

function RedirectUris() {
  const t = useMessages(applicationMessages);
  const type = useWatch({ name: 'type' }) as (typeof applicationTypes)[number];
  if (!signsIn(type)) return null;
  return (
    <ListField
      name="redirectUris"
      label={t.redirectUris}
      hint={t.redirectUrisHint}
      placeholder={
        type === 'NATIVE' ? 'com.example.app:/callback' : 'https://app.example.com/callback'
      }
    />
  );
}
