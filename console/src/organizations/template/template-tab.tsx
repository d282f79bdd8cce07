import { useState } from 'react';
import * as z from 'zod/mini';
import type { RoleType } from '../../generated/graphql.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Button } from '../../kit/controls/button.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { Dialog } from '../../kit/dialogs/dialog.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../../kit/forms/choices.tsx';
import { filledText, newDescribed } from '../../kit/forms/described.ts';
import { TextField } from '../../kit/forms/fields.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { ScopesSection } from '../../kit/lists/scopes-section.tsx';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { organizationMessages } from '../messages.ts';
import styles from '../organizations.module.css';
import {
  CreateOrganizationRole,
  CreateOrganizationScope,
  DeleteOrganizationRole,
  DeleteOrganizationScope,
  TemplateRoles,
  TemplateScope,
  TemplateScopes,
  UpdateOrganizationScope,
} from './documents.ts';
import { RoleDialog } from './role-dialog.tsx';

const types = ['USER', 'MACHINE_TO_MACHINE'] as const satisfies readonly RoleType[];

/** The roles and scopes that every organization has. */
export const TemplateTab = () => (
  <>
    <RolesSection />
    <TemplateScopesSection />
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
        name: filledText(texts.required),
        type: z.enum(types),
        description: z.string(),
      })}
      values={{ name: '', type: 'USER' as RoleType, description: '' }}
      toInput={({ name, type, description }) => ({
        ...newDescribed({ name, description }),
        type,
      })}
      onDone={({ organizationRole }) => onDone(organizationRole.id)}
      submit={t.createRole}
      onCancel={onClose}
    >
      <TextField name="name" label={t.name} hasFocus />
      <RadioCards name="type" label={t.roleType} choices={choicesOf(types, t.types, t.typeTexts)} />
      <TextField name="description" label={t.description} isOptional />
    </ActionForm>
  );
}

function TemplateScopesSection() {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  return (
    <ScopesSection
      texts={t}
      isReadOnly={!canWrite}
      page="scopes"
      documents={{
        list: TemplateScopes,
        read: TemplateScope,
        create: CreateOrganizationScope,
        update: UpdateOrganizationScope,
        delete: DeleteOrganizationScope,
      }}
      newInput={(named) => named}
      variables={(address) => pageIn(address, 'scopes')}
      connection={({ organizationScopes }) => organizationScopes}
      empty={<p className={styles.about}>{t.noTemplateScopes}</p>}
    />
  );
}
