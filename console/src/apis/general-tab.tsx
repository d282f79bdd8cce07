import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { Notice } from '../controls/notice.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { ApiFieldsFragment } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { DeleteRecord } from '../records/delete-record.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { DeleteApi, UpdateApi } from './documents.ts';
import { isOwn, longestSeconds } from './lifetime.ts';
import { apiPageMessages } from './messages.ts';
import { ScopesSection } from './scopes-section.tsx';

/** Scopes, settings, and the way to delete it. */
export function GeneralTab({ api }: { api: ApiFieldsFragment }) {
  const t = useMessages(apiPageMessages);
  const canWrite = useCan('resources:write');
  const navigate = useNavigate();
  const isFixed = isOwn(api.indicator);
  return (
    <>
      {isFixed && <Notice>{t.ownText}</Notice>}
      <ScopesSection apiId={api.id} isReadOnly={!canWrite || isFixed} />
      <Section title={t.settings}>
        <SettingsForm api={api} isReadOnly={!canWrite || isFixed} />
      </Section>
      {canWrite && !isFixed && (
        <Section
          title={t.deleteTitle}
          about={t.deleteAbout}
          isDangerous
          action={
            <DeleteRecord
              name={api.name}
              goesToo={[t.goesScopes, t.goesTokens]}
              document={DeleteApi}
              input={{ id: api.id }}
              onDone={() => {
                toast.done(t.deleted(api.name));
                void navigate({ to: '/apis' });
              }}
            />
          }
        />
      )}
    </>
  );
}

function SettingsForm({ api, isReadOnly }: { api: ApiFieldsFragment; isReadOnly: boolean }) {
  const t = useMessages(apiPageMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={UpdateApi}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        accessTokenTtlSeconds: z
          .int(t.lifetimeBounds)
          .check(z.gte(1, t.lifetimeBounds), z.lte(longestSeconds, t.lifetimeBounds)),
      })}
      values={{ name: api.name, accessTokenTtlSeconds: api.accessTokenTtlSeconds }}
      toInput={({ name, accessTokenTtlSeconds }) => ({
        id: api.id,
        name: name.trim(),
        accessTokenTtlSeconds,
      })}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <TextField name="name" label={t.name} />
      <TextField
        name="accessTokenTtlSeconds"
        type="number"
        label={t.lifetimeSeconds}
        hint={t.lifetimeHint}
      />
    </ActionForm>
  );
}
