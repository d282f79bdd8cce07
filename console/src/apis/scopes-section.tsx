import { useState } from 'react';
import * as z from 'zod/mini';
import { Button } from '../controls/button.tsx';
import { ConfirmAction } from '../dialogs/confirm-action.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import { useMessages } from '../language/language.ts';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { EmptyState } from '../states/state.tsx';
import styles from './apis.module.css';
import { ApiScopes, CreateScope, DeleteScope, UpdateScope } from './documents.ts';
import { apiPageMessages } from './messages.ts';

interface ShownScope {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
}

/** The scopes that an API defines, changed in place. */
export function ScopesSection({ apiId, isReadOnly }: { apiId: string; isReadOnly: boolean }) {
  const t = useMessages(apiPageMessages);
  const [isCreating, setIsCreating] = useState(false);
  const [edited, setEdited] = useState<ShownScope>();
  const create = !isReadOnly && (
    <Button size="small" icon="plus" onClick={() => setIsCreating(true)}>
      {t.createScope}
    </Button>
  );
  return (
    <Section title={t.scopes} about={t.scopesAbout} action={create}>
      <List
        label={t.scopes}
        document={ApiScopes}
        variables={(address) => ({ id: apiId, ...pageIn(address) })}
        connection={({ resource }) => resource?.scopes}
        hasSearch={false}
        columns={[
          { id: 'name', header: t.scope, cell: ({ name }) => <code>{name}</code> },
          {
            id: 'description',
            header: t.description,
            from: 'medium',
            cell: ({ description }) => description,
          },
          {
            id: 'actions',
            header: '',
            isNarrow: true,
            cell: (scope) =>
              !isReadOnly && (
                <span className={styles.actions}>
                  <Button
                    size="small"
                    aria-label={t.edit(scope.name)}
                    onClick={() => setEdited(scope)}
                  >
                    {t.editShort}
                  </Button>
                  <ConfirmAction
                    label={t.deleteScope}
                    title={t.deleteScopeTitle(scope.name)}
                    text={t.deleteScopeText}
                    document={DeleteScope}
                    input={{ id: scope.id }}
                    onDone={() => toast.done(t.scopeDeleted(scope.name))}
                    kind="danger"
                    size="small"
                  />
                </span>
              ),
          },
        ]}
        empty={
          <EmptyState icon="apis" title={t.noScopesTitle}>
            {t.noScopesText}
          </EmptyState>
        }
      />
      <Dialog title={t.createScope} isOpen={isCreating} onClose={() => setIsCreating(false)}>
        <CreateForm apiId={apiId} onClose={() => setIsCreating(false)} />
      </Dialog>
      <Dialog
        title={t.editScope}
        isOpen={edited !== undefined}
        onClose={() => setEdited(undefined)}
      >
        {edited && <EditForm scope={edited} onClose={() => setEdited(undefined)} />}
      </Dialog>
    </Section>
  );
}

const useScopeSchema = () => {
  const texts = useMessages(formMessages);
  return z.object({
    name: z.string().check(z.trim(), z.minLength(1, texts.required)),
    description: z.string(),
  });
};

function CreateForm({ apiId, onClose }: { apiId: string; onClose: () => void }) {
  const t = useMessages(apiPageMessages);
  return (
    <ActionForm
      document={CreateScope}
      schema={useScopeSchema()}
      values={{ name: '', description: '' }}
      toInput={({ name, description }) => ({
        resourceId: apiId,
        name: name.trim(),
        ...(description.trim() ? { description: description.trim() } : {}),
      })}
      onDone={({ scope }) => {
        toast.done(t.scopeCreated(scope.name));
        onClose();
      }}
      submit={t.createScope}
      onCancel={onClose}
      cancel={t.cancel}
    >
      <TextField
        name="name"
        label={t.scopeName}
        hint={t.scopeHint}
        placeholder="orders:read"
        isCode
        hasFocus
      />
      <TextField name="description" label={t.description} isOptional />
    </ActionForm>
  );
}

function EditForm({ scope, onClose }: { scope: ShownScope; onClose: () => void }) {
  const t = useMessages(apiPageMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={UpdateScope}
      schema={useScopeSchema()}
      values={{ name: scope.name, description: scope.description ?? '' }}
      toInput={({ name, description }) => ({
        id: scope.id,
        name: name.trim(),
        description: description.trim() || null,
      })}
      onDone={() => {
        toast.done(texts.saved);
        onClose();
      }}
      submit={texts.save}
      onCancel={onClose}
      cancel={t.cancel}
    >
      <TextField name="name" label={t.scopeName} hint={t.renameHint} isCode hasFocus />
      <TextField name="description" label={t.description} isOptional />
    </ActionForm>
  );
}
