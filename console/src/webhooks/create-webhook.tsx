import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { eventMessages } from '../events/messages.ts';
import type { EventType } from '../generated/graphql.ts';
import { CreationDialog, type CreationFormProps } from '../kit/dialogs/creation-dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { CheckGroups } from '../kit/forms/choices.tsx';
import { filledText } from '../kit/forms/described.ts';
import { TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
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
  const navigate = useNavigate();
  return (
    <CreationDialog<Created>
      texts={t}
      isOpen={isOpen}
      onClose={onClose}
      form={(actions) => <CreationForm {...actions} />}
      shownOnce={({ secret }) => <SecretOnce secret={secret} />}
      onOpenRecord={(id) => void navigate({ to: '/webhooks/$id', params: { id } })}
    />
  );
}

/** What every form of a webhook checks before it is sent. */
export function useWebhookChecks() {
  const t = useMessages(webhookMessages);
  const texts = useMessages(formMessages);
  return {
    name: filledText(texts.required),
    url: z.string().check(z.trim(), z.refine(URL.canParse, t.notAnAddress)),
    events: z.array(z.string()).check(z.minLength(1, t.chooseOne)),
    query: z.string(),
    headers: z.string().check(z.refine(areHeaders, t.notHeaders)),
  };
}

function CreationForm({ onCancel, onDone }: CreationFormProps<Created>) {
  const t = useMessages(webhookMessages);
  const { groups } = useMessages(eventMessages);
  return (
    <ActionForm
      document={CreateWebhook}
      schema={z.object(useWebhookChecks())}
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
