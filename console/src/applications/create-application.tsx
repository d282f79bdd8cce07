import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import { Button } from '../controls/button.tsx';
import { Dialog, DialogFooter } from '../dialogs/dialog.tsx';
import { ActionForm } from '../forms/action-form.tsx';
import { RadioCards } from '../forms/choices.tsx';
import { TextField } from '../forms/fields.tsx';
import { filled, ListField } from '../forms/list-field.tsx';
import { formMessages } from '../forms/messages.ts';
import type { ApplicationType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { CreateApplication } from './documents.ts';
import { applicationMessages } from './messages.ts';
import { ShownOnce } from './shown-once.tsx';
import { applicationTypes, signsIn } from './types.ts';

interface Created {
  readonly id: string;
  readonly secret: string | null;
}

/** Creates an application: the four types explained, then its credentials, once. */
export function CreateApplicationDialog({
  isOpen,
  onClose,
}: {
  isOpen: boolean;
  onClose: () => void;
}) {
  const t = useMessages(applicationMessages);
  const [created, setCreated] = useState<Created>();
  const navigate = useNavigate();
  const close = () => {
    setCreated(undefined);
    if (created) void navigate({ to: '/applications/$id', params: { id: created.id } });
    else onClose();
  };
  return (
    <Dialog
      title={created ? t.created : t.create}
      isOpen={isOpen}
      onClose={close}
      size="wide"
      isUrgent={created !== undefined}
    >
      {created ? (
        <>
          <ShownOnce clientId={created.id} secret={created.secret} />
          <DialogFooter>
            <Button kind="primary" onClick={close}>
              {t.openIt}
            </Button>
          </DialogFooter>
        </>
      ) : (
        <CreationForm onCancel={close} onDone={(application) => setCreated(application)} />
      )}
    </Dialog>
  );
}

function CreationForm({
  onCancel,
  onDone,
}: {
  onCancel: () => void;
  onDone: (created: Created) => void;
}) {
  const t = useMessages(applicationMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={CreateApplication}
      schema={z.object({
        type: z.enum(applicationTypes),
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
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
        name: name.trim(),
        ...(description.trim() ? { description: description.trim() } : {}),
        ...(signsIn(type) ? { redirectUris: filled(redirectUris) } : {}),
      })}
      onDone={({ application, secret }) => onDone({ id: application.id, secret: secret ?? null })}
      submit={t.create}
      onCancel={onCancel}
      cancel={t.cancel}
    >
      <TextField name="name" label={t.name} hint={t.nameHint} hasFocus />
      <RadioCards
        name="type"
        label={t.type}
        choices={applicationTypes.map((value) => ({
          value,
          label: t.types[value],
          description: t.typeTexts[value],
        }))}
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
