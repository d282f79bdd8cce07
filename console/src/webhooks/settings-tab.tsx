import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import * as z from 'zod/mini';
import { Notice } from '../controls/notice.tsx';
import { toast } from '../dialogs/toasts.ts';
import { eventMessages } from '../events/messages.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckGroups } from '../forms/choices.tsx';
import { CheckField, TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { EventType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { DeleteRecord } from '../records/delete-record.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { DeleteWebhook, type ShownWebhook, UpdateWebhook } from './documents.ts';
import { allTypes, groupsOfTypes } from './event-types.ts';
import { areHeaders, HeadersField, headersIn } from './headers-field.tsx';
import { webhookMessages } from './messages.ts';
import { QueryField } from './query-field.tsx';

/** What a webhook gets and where, and the way to delete it. */
export function SettingsTab({ webhook }: { webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const canWrite = useCan('webhooks:write');
  const seesEvents = useCan('events:read');
  const navigate = useNavigate();
  // Headers that were sent are not shown again: the form begins anew.
  const [run, setRun] = useState(0);
  return (
    <>
      <Section title={t.settings}>
        {canWrite && !seesEvents && <Notice>{t.needsEvents}</Notice>}
        <SettingsForm
          key={run}
          webhook={webhook}
          isReadOnly={!canWrite || !seesEvents}
          onHeaders={() => setRun(run + 1)}
        />
      </Section>
      {canWrite && (
        <Section
          title={t.deleteTitle}
          about={t.deleteAbout}
          isDangerous
          action={
            <DeleteRecord
              name={webhook.name}
              goesToo={[t.goesDeliveries, t.goesSecret]}
              document={DeleteWebhook}
              input={{ id: webhook.id }}
              onDone={() => {
                toast.done(t.deleted(webhook.name));
                void navigate({ to: '/webhooks' });
              }}
            />
          }
        />
      )}
    </>
  );
}

function SettingsForm({
  webhook,
  isReadOnly,
  onHeaders,
}: {
  webhook: ShownWebhook;
  isReadOnly: boolean;
  onHeaders: () => void;
}) {
  const t = useMessages(webhookMessages);
  const texts = useMessages(formMessages);
  const { groups } = useMessages(eventMessages);
  const getsAll = webhook.events.length === 0;
  const hasHeaders = webhook.headers.length > 0;
  const sentHeaders = useRef(false);
  return (
    <ActionForm
      document={UpdateWebhook}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        url: z.string().check(z.trim(), z.refine(URL.canParse, t.notAnAddress)),
        events: z.array(z.string()).check(z.minLength(1, t.chooseOne)),
        query: z.string(),
        headers: z.string().check(z.refine(areHeaders, t.notHeaders)),
        removeHeaders: z.boolean(),
        maxInFlight: z
          .number(t.notInRange)
          .check(z.int(t.notInRange), z.gte(1, t.notInRange), z.lte(1000, t.notInRange)),
        enabled: z.boolean(),
      })}
      values={{
        name: webhook.name,
        url: webhook.url,
        events: (getsAll ? allTypes : webhook.events) as string[],
        query: webhook.query ?? '',
        headers: '',
        removeHeaders: false,
        maxInFlight: webhook.maxInFlight,
        enabled: webhook.enabled,
      }}
      toInput={(values) => {
        const changed = headerChange(values);
        sentHeaders.current = 'headers' in changed;
        return {
          id: webhook.id,
          name: values.name.trim(),
          url: values.url.trim(),
          // All types stay all types, those to come included.
          events:
            getsAll && values.events.length === allTypes.length
              ? []
              : (values.events as EventType[]),
          query: values.query.trim() ? values.query : null,
          ...changed,
          maxInFlight: values.maxInFlight,
          enabled: values.enabled,
        };
      }}
      onDone={() => {
        toast.done(texts.saved);
        if (sentHeaders.current) onHeaders();
      }}
      submit={texts.save}
    >
      <TextField name="name" label={t.name} />
      <TextField
        name="url"
        type="url"
        label={t.url}
        hint={hasHeaders ? `${t.urlHint} ${t.otherOrigin}` : t.urlHint}
        isCode
      />
      <CheckField name="enabled" label={t.enabled} hint={t.enabledHint} />
      <CheckGroups
        name="events"
        label={t.types}
        hint={t.typesHint}
        groups={groupsOfTypes(groups).map(({ label, options }) => ({ label, choices: options }))}
      />
      <QueryField
        name="query"
        label={t.query}
        hint={t.queryHint}
        isOptional
        isReadOnly={isReadOnly}
      />
      <HeadersField
        name="headers"
        label={t.headers}
        hint={hasHeaders ? t.headersKept(webhook.headers.join(', ')) : t.headersNone}
        isOptional
      />
      {hasHeaders && <CheckField name="removeHeaders" label={t.removeHeaders} />}
      <TextField name="maxInFlight" type="number" label={t.maxInFlight} hint={t.maxInFlightHint} />
    </ActionForm>
  );
}

// Nothing written: they stay as they are.
function headerChange({ headers, removeHeaders }: { headers: string; removeHeaders: boolean }) {
  if (headers.trim()) return { headers: headersIn(headers) };
  return removeHeaders ? { headers: null } : {};
}
