import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { useState } from 'react';
import * as z from 'zod/mini';
import { useData } from '../api/use-data.ts';
import { Button } from '../controls/button.tsx';
import { ConfirmAction } from '../dialogs/confirm-action.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { ActionForm, AnyActionForm } from '../forms/action-form.tsx';
import { changedDescribed, filledText, newDescribed } from '../forms/described.ts';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import { useMessages } from '../language/language.ts';
import { Section } from '../records/section.tsx';
import { toast } from '../toasts.ts';
import { rowActions } from './data-table.tsx';
import { List, type ListProps } from './list-page.tsx';
import { listMessages } from './messages.ts';

interface Scope {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly version: number;
}

/** The input of the mutation that changes a scope. */
interface ScopeChange {
  id: string;
  name?: string | null;
  description?: string | null;
  expectedVersion?: number | null;
}

/** What the scopes are called here. */
interface Texts {
  readonly scopes: string;
  readonly scopesAbout: string;
  readonly createScope: string;
  readonly editScope: string;
  readonly scopeName: string;
  readonly scopeHint: string;
  /** Said where an existing scope gets another name. */
  readonly renameHint?: string;
  readonly deleteScopeTitle: (name: string) => string;
  readonly deleteScopeText: string;
}

/** Scopes in a list, with forms to create, change and delete them. */
export function ScopesSection<
  Data,
  Variables extends AnyVariables,
  Created extends object,
  CreateInput extends object,
  Updated extends object,
  Deleted extends object,
>({
  texts,
  isReadOnly,
  documents,
  newInput,
  ...list
}: Pick<ListProps<Data, Variables, Scope>, 'variables' | 'connection' | 'page' | 'empty'> & {
  texts: Texts;
  isReadOnly: boolean;
  documents: {
    readonly list: TypedDocumentNode<Data, Variables>;
    readonly create: TypedDocumentNode<Created, { input: CreateInput }>;
    readonly read: TypedDocumentNode<{ scope: Scope | null }, { id: string }>;
    readonly update: TypedDocumentNode<Updated, { input: ScopeChange }>;
    readonly delete: TypedDocumentNode<Deleted, { input: { id: string } }>;
  };
  /** Makes the input of the mutation that creates a scope. */
  newInput: (named: { name: string; description?: string }) => CreateInput;
}) {
  const t = useMessages(listMessages);
  const [isCreating, setIsCreating] = useState(false);
  const [edited, setEdited] = useState<Scope>();
  const schema = useSchema();
  const close = () => {
    setIsCreating(false);
    setEdited(undefined);
  };
  return (
    <Section
      title={texts.scopes}
      about={texts.scopesAbout}
      action={
        !isReadOnly && (
          <Button size="small" icon="plus" onClick={() => setIsCreating(true)}>
            {texts.createScope}
          </Button>
        )
      }
    >
      <List
        {...list}
        label={texts.scopes}
        document={documents.list}
        hasSearch={false}
        columns={[
          { id: 'name', header: t.name, cell: ({ name }) => <code>{name}</code> },
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
                <span className={rowActions}>
                  <Button
                    size="small"
                    aria-label={t.editNamed(scope.name)}
                    onClick={() => setEdited(scope)}
                  >
                    {t.edit}
                  </Button>
                  <ConfirmAction
                    label={t.delete}
                    title={texts.deleteScopeTitle(scope.name)}
                    text={texts.deleteScopeText}
                    document={documents.delete}
                    input={{ id: scope.id }}
                    onDone={() => toast.done(t.wasDeleted(scope.name))}
                    kind="danger"
                    size="small"
                  />
                </span>
              ),
          },
        ]}
      />
      <Dialog title={texts.createScope} isOpen={isCreating} onClose={close}>
        <AnyActionForm
          document={documents.create}
          schema={schema}
          values={{ name: '', description: '' }}
          toInput={(values) => newInput(newDescribed(values))}
          onDone={() => {
            toast.done(t.created);
            close();
          }}
          submit={texts.createScope}
          onCancel={close}
        >
          <ScopeFields label={texts.scopeName} hint={texts.scopeHint} />
        </AnyActionForm>
      </Dialog>
      <Dialog title={texts.editScope} isOpen={edited !== undefined} onClose={close}>
        {edited && (
          <ChangeForm scope={edited} documents={documents} texts={texts} onClose={close} />
        )}
      </Dialog>
    </Section>
  );
}

function useSchema() {
  const { required } = useMessages(formMessages);
  return z.object({ name: filledText(required), description: z.string() });
}

function ChangeForm<Updated extends object>({
  scope: listed,
  documents,
  texts,
  onClose,
}: {
  scope: Scope;
  documents: {
    readonly read: TypedDocumentNode<{ scope: Scope | null }, { id: string }>;
    readonly update: TypedDocumentNode<Updated, { input: ScopeChange }>;
  };
  texts: Texts;
  onClose: () => void;
}) {
  const words = useMessages(formMessages);
  const { data } = useData(documents.read, { id: listed.id });
  const scope = data?.scope ?? listed;
  return (
    <ActionForm
      document={documents.update}
      record={scope}
      schema={useSchema()}
      values={{ name: scope.name, description: scope.description ?? '' }}
      toInput={(values) => ({ id: scope.id, ...changedDescribed(values) })}
      onDone={() => {
        toast.done(words.saved);
        onClose();
      }}
      submit={words.save}
      onCancel={onClose}
    >
      <ScopeFields label={texts.scopeName} hint={texts.renameHint ?? texts.scopeHint} />
    </ActionForm>
  );
}

function ScopeFields({ label, hint }: { label: string; hint: string }) {
  const t = useMessages(listMessages);
  return (
    <>
      <TextField name="name" label={label} hint={hint} placeholder="orders:read" isCode hasFocus />
      <TextField name="description" label={t.description} isOptional />
    </>
  );
}
