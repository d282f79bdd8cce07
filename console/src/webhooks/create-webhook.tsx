import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import * as z from 'zod/mini';
import { Button } from '../controls/button.tsx';
import { Dialog, DialogFooter } from '../dialogs/dialog.tsx';
import { eventMessages } from '../events/messages.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckGroups } from '../forms/choices.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { EventType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { CreateWebhook } from './documents.ts';
import { groupsOfTypes } from './event-types.ts';
import { areHeaders, HeadersField, headersIn } from './headers-field.tsx';
import { webhookMessages } from './messages.ts';
import { QueryField } from './query-field.tsx';
import { SecretOnce } from './secret-once.tsx';

interface Created {
  readonly id: string;
  readonly secret: string;
}

/** Creates a webhook, then shows its signing secret, once. */
export function CreateWebhookDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(webhookMessages);
  const [created, setCreated] = useState<Created>();
  const navigate = useNavigate();
  const close = () => {
    setCreated(undefined);
    if (created) void navigate({ to: '/webhooks/$id', params: { id: created.id } });
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
          <SecretOnce secret={created.secret} />
          <DialogFooter>
            <Button kind="primary" onClick={close}>
              {t.openIt}
            </Button>
          </DialogFooter>
        </>
      ) : (
        <CreationForm onCancel={close} onDone={setCreated} />
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
  const t = useMessages(webhookMessages);
  const texts = useMessages(formMessages);
  const { groups } = useMessages(eventMessages);
  return (
    <ActionForm
      document={CreateWebhook}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        url: z.string().check(z.trim(), z.refine(URL.canParse, t.notAnAddress)),
        events: z.array(z.string()).check(z.minLength(1, t.chooseOne)),
        query: z.string(),
        headers: z.string().check(z.refine(areHeaders, t.notHeaders)),
      })}
      values={{ name: '', url: '', events: [] as string[], query: '', headers: '' }}
      toInput={({ name, url, events, query, headers }) => ({
        name: name.trim(),
        url: url.trim(),
        events: events as EventType[],
        ...(query.trim() ? { query } : {}),
        ...(headers.trim() ? { headers: headersIn(headers) } : {}),
      })}
      onDone={({ webhook, secret }) => onDone({ id: webhook.id, secret })}
      submit={t.create}
      onCancel={onCancel}
      cancel={t.cancel}
    >
      <TextField name="name" label={t.name} hasFocus />
      <TextField
        name="url"
        type="url"
        label={t.url}
        hint={t.urlHint}
        placeholder="https://example.com/hooks/signet"
        isCode
      />
      <CheckGroups
        name="events"
        label={t.types}
        hint={t.typesHint}
        groups={groupsOfTypes(groups).map(({ label, options }) => ({ label, choices: options }))}
      />
      <QueryField name="query" label={t.query} hint={t.queryHint} isOptional />
      <HeadersField name="headers" label={t.headers} hint={t.headersHint} isOptional />
    </ActionForm>
  );
}
