import * as z from 'zod/mini';
import type { ApiFieldsFragment } from '../generated/graphql.ts';
import { Notice } from '../kit/controls/notice.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { filledText } from '../kit/forms/described.ts';
import { TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { pageIn } from '../kit/lists/list-page.tsx';
import { ScopesSection } from '../kit/lists/scopes-section.tsx';
import { DeleteSection } from '../kit/records/delete-record.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { EmptyState } from '../kit/states/state.tsx';
import { toast } from '../kit/toasts.ts';
import { AlgorithmField, algorithmOf } from './algorithm-field.tsx';
import {
  ApiScope,
  ApiScopes,
  CreateScope,
  DeleteApi,
  DeleteScope,
  UpdateApi,
  UpdateScope,
} from './documents.ts';
import { isOwn } from './lifetime.ts';
import { LifetimeField, useLifetimeSchema } from './lifetime-field.tsx';
import { apiPageMessages } from './messages.ts';

/** The scopes, the settings and the deletion. */
export function GeneralTab({ api }: { api: ApiFieldsFragment }) {
  const t = useMessages(apiPageMessages);
  const canWrite = useCan('resources:write');
  const isFixed = isOwn(api.indicator);
  return (
    <>
      {isFixed && <Notice>{t.ownText}</Notice>}
      <ScopesSection
        texts={t}
        isReadOnly={!canWrite || isFixed}
        documents={{
          list: ApiScopes,
          read: ApiScope,
          create: CreateScope,
          update: UpdateScope,
          delete: DeleteScope,
        }}
        newInput={(named) => ({ resourceId: api.id, ...named })}
        variables={(address) => ({ id: api.id, ...pageIn(address) })}
        connection={({ resource }) => resource?.scopes}
        empty={
          <EmptyState icon="apis" title={t.noScopesTitle}>
            {t.noScopesText}
          </EmptyState>
        }
      />
      <Section title={t.settings}>
        <SettingsForm api={api} isReadOnly={!canWrite || isFixed} />
      </Section>
      {canWrite && !isFixed && (
        <DeleteSection
          texts={t}
          name={api.name}
          alsoDeleted={[t.deletesScopes, t.deletesTokens]}
          document={DeleteApi}
          input={{ id: api.id }}
          to="/apis"
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
      record={api}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: filledText(texts.required),
        accessTokenTtlSeconds: useLifetimeSchema(),
        signingAlg: z.string(),
      })}
      values={{
        name: api.name,
        accessTokenTtlSeconds: api.accessTokenTtlSeconds,
        signingAlg: api.signingAlg ?? '',
      }}
      toInput={({ name, accessTokenTtlSeconds, signingAlg }) => ({
        id: api.id,
        name: name.trim(),
        accessTokenTtlSeconds,
        signingAlg: algorithmOf(signingAlg),
      })}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <TextField name="name" label={t.name} />
      <LifetimeField />
      <AlgorithmField />
    </ActionForm>
  );
}
