import { useRef, useState } from 'react';
import * as z from 'zod/mini';
import { eventMessages } from '../events/messages.ts';
import type { EventType } from '../generated/graphql.ts';
import { Notice } from '../kit/controls/notice.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { CheckGroups } from '../kit/forms/choices.tsx';
import { CheckField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { DeleteSection } from '../kit/records/delete-record.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { useWebhookChecks } from './create-webhook.tsx';
import { DeleteWebhook, type ShownWebhook, UpdateWebhook } from './documents.ts';
import { allTypes, groupsOfTypes } from './event-types.ts';
import { HeadersField, headersIn } from './headers-field.tsx';
import { webhookMessages } from './messages.ts';
import { QueryField } from './query-field.tsx';

/** The settings of a webhook and the deletion. */
export function SettingsTab({ webhook }: { webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const canWrite = useCan('webhooks:write');
  const canReadEvents = useCan('events:read');
  // Sent headers are not shown again, so the form is reset.
  const [run, setRun] = useState(0);
  return (
    <>
      <Section title={t.settings}>
        {canWrite && !canReadEvents && <Notice>{t.needsEvents}</Notice>}
        <SettingsForm
          key={run}
          webhook={webhook}
          isReadOnly={!canWrite || !canReadEvents}
          onHeaders={() => setRun(run + 1)}
        />
      </Section>
      {canWrite && (
        <DeleteSection
          texts={t}
          name={webhook.name}
          alsoDeleted={[t.deletesDeliveries, t.deletesSecret]}
          document={DeleteWebhook}
          input={{ id: webhook.id }}
          to="/webhooks"
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
      record={webhook}
      isReadOnly={isReadOnly}
      schema={z.object({
        ...useWebhookChecks(),
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
          // No types mean all, including future ones.
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

// Without input, the headers stay as they are.
function headerChange({ headers, removeHeaders }: { headers: string; removeHeaders: boolean }) {
  if (headers.trim()) return { headers: headersIn(headers) };
  return removeHeaders ? { headers: null } : {};
}
