import { useState } from 'react';
import * as z from 'zod/mini';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { ConfirmAction } from '../dialogs/confirm-action.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { ActionForm } from '../forms/action-form.tsx';
import { RadioCards } from '../forms/choices.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { RoleType, TemplateScopesQuery } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import {
  CreateOrganizationRole,
  CreateOrganizationScope,
  DeleteOrganizationRole,
  DeleteOrganizationScope,
  TemplateRoles,
  TemplateScopes,
  UpdateOrganizationScope,
} from './documents.ts';
import { organizationMessages } from './messages.ts';
import styles from './organizations.module.css';
import { RoleDialog } from './role-dialog.tsx';

type Scope = TemplateScopesQuery['organizationScopes']['edges'][number]['node'];

const types = ['USER', 'MACHINE_TO_MACHINE'] as const satisfies readonly RoleType[];

/** The roles and scopes that every organization has. */
export const TemplateTab = () => (
  <>
    <RolesSection />
    <ScopesSection />
  </>
);

function RolesSection() {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const [isCreating, setIsCreating] = useState(false);
  const [edited, setEdited] = useState<string>();
  return (
    <Section
      title={t.templateRoles}
      about={t.templateRolesAbout}
      action={
        canWrite && (
          <Button size="small" icon="plus" onClick={() => setIsCreating(true)}>
            {t.createRole}
          </Button>
        )
      }
    >
      <List
        label={t.templateRoles}
        hasSearch={false}
        page="roles"
        document={TemplateRoles}
        variables={(address) => pageIn(address, 'roles')}
        connection={({ organizationRoles }) => organizationRoles}
        columns={[
          {
            id: 'name',
            header: t.name,
            cell: ({ id, name }) => (
              <Button
                size="small"
                kind="quiet"
                className={styles.open}
                onClick={() => setEdited(id)}
              >
                {name}
              </Button>
            ),
          },
          {
            id: 'type',
            header: t.roleType,
            isNarrow: true,
            from: 'medium',
            cell: ({ type }) => t.types[type],
          },
          {
            id: 'scopes',
            header: t.organizationScopes,
            from: 'medium',
            cell: ({ scopes }) => (
              <span className={styles.chips}>
                {scopes.edges.map(({ node }) => (
                  <Badge key={node.id}>{node.name}</Badge>
                ))}
              </span>
            ),
          },
          {
            id: 'delete',
            header: '',
            isNarrow: true,
            cell: ({ id, name }) =>
              canWrite && (
                <ConfirmAction
                  label={t.delete}
                  title={t.deleteRoleTitle(name)}
                  text={t.deleteRoleText}
                  document={DeleteOrganizationRole}
                  input={{ id }}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noTemplateRolesYet}</p>}
      />
      <Dialog title={t.createRole} isOpen={isCreating} onClose={() => setIsCreating(false)}>
        <CreateRoleForm
          onClose={() => setIsCreating(false)}
          onDone={(id) => {
            setIsCreating(false);
            setEdited(id);
          }}
        />
      </Dialog>
      <RoleDialog id={edited} onClose={() => setEdited(undefined)} />
    </Section>
  );
}

function CreateRoleForm({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (id: string) => void;
}) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={CreateOrganizationRole}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        type: z.enum(types),
        description: z.string(),
      })}
      values={{ name: '', type: 'USER' as RoleType, description: '' }}
      toInput={({ name, type, description }) => ({
        name: name.trim(),
        type,
        ...(description.trim() ? { description: description.trim() } : {}),
      })}
      onDone={({ organizationRole }) => onDone(organizationRole.id)}
      submit={t.createRole}
      onCancel={onClose}
      cancel={t.cancel}
    >
      <TextField name="name" label={t.name} hasFocus />
      <RadioCards
        name="type"
        label={t.roleType}
        choices={types.map((value) => ({
          value,
          label: t.types[value],
          description: t.typeTexts[value],
        }))}
      />
      <TextField name="description" label={t.description} isOptional />
    </ActionForm>
  );
}

function ScopesSection() {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const [isCreating, setIsCreating] = useState(false);
  const [edited, setEdited] = useState<Scope>();
  return (
    <Section
      title={t.templateScopes}
      about={t.templateScopesAbout}
      action={
        canWrite && (
          <Button size="small" icon="plus" onClick={() => setIsCreating(true)}>
            {t.createScope}
          </Button>
        )
      }
    >
      <List
        label={t.templateScopes}
        hasSearch={false}
        page="scopes"
        document={TemplateScopes}
        variables={(address) => pageIn(address, 'scopes')}
        connection={({ organizationScopes }) => organizationScopes}
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
              canWrite && (
                <span className={styles.end}>
                  <Button
                    size="small"
                    aria-label={t.edit(scope.name)}
                    onClick={() => setEdited(scope)}
                  >
                    {t.editShort}
                  </Button>
                  <ConfirmAction
                    label={t.delete}
                    title={t.deleteScopeTitle(scope.name)}
                    text={t.deleteScopeText}
                    document={DeleteOrganizationScope}
                    input={{ id: scope.id }}
                    kind="danger"
                    size="small"
                  />
                </span>
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noTemplateScopes}</p>}
      />
      <Dialog title={t.createScope} isOpen={isCreating} onClose={() => setIsCreating(false)}>
        <CreateScopeForm onClose={() => setIsCreating(false)} />
      </Dialog>
      <Dialog
        title={t.scopeTitle}
        isOpen={edited !== undefined}
        onClose={() => setEdited(undefined)}
      >
        {edited && <EditScopeForm scope={edited} onClose={() => setEdited(undefined)} />}
      </Dialog>
    </Section>
  );
}

function CreateScopeForm({ onClose }: { onClose: () => void }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={CreateOrganizationScope}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        description: z.string(),
      })}
      values={{ name: '', description: '' }}
      toInput={({ name, description }) => ({
        name: name.trim(),
        ...(description.trim() ? { description: description.trim() } : {}),
      })}
      onDone={onClose}
      submit={t.createScope}
      onCancel={onClose}
      cancel={t.cancel}
    >
      <ScopeFields />
    </ActionForm>
  );
}

function EditScopeForm({ scope, onClose }: { scope: Scope; onClose: () => void }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={UpdateOrganizationScope}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        description: z.string(),
      })}
      values={{ name: scope.name, description: scope.description ?? '' }}
      toInput={({ name, description }) => ({
        id: scope.id,
        name: name.trim(),
        description: description.trim() || null,
      })}
      onDone={onClose}
      submit={texts.save}
      onCancel={onClose}
      cancel={t.cancel}
    >
      <ScopeFields />
    </ActionForm>
  );
}

function ScopeFields() {
  const t = useMessages(organizationMessages);
  return (
    <>
      <TextField name="name" label={t.name} hint={t.scopeHint} isCode hasFocus />
      <TextField name="description" label={t.description} isOptional />
    </>
  );
}
