import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckField, TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { RoleFieldsFragment } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { DeleteRecord } from '../records/delete-record.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { DeleteRole, UpdateRole } from './documents.ts';
import { roleMessages } from './messages.ts';
import { RoleScopesSection } from './scopes-section.tsx';

/** Scopes, settings, and the way to delete it. */
export function GeneralTab({ role }: { role: RoleFieldsFragment }) {
  const t = useMessages(roleMessages);
  const canWrite = useCan('roles:write');
  const navigate = useNavigate();
  return (
    <>
      <RoleScopesSection roleId={role.id} />
      <Section title={t.settings}>
        <SettingsForm role={role} isReadOnly={!canWrite} />
      </Section>
      {canWrite && (
        <Section
          title={t.deleteTitle}
          about={t.deleteAbout}
          isDangerous
          action={
            <DeleteRecord
              name={role.name}
              goesToo={[t.goesHolders, t.goesScopes]}
              document={DeleteRole}
              input={{ id: role.id }}
              onDone={() => {
                toast.done(t.deleted(role.name));
                void navigate({ to: '/roles' });
              }}
            />
          }
        />
      )}
    </>
  );
}

function SettingsForm({ role, isReadOnly }: { role: RoleFieldsFragment; isReadOnly: boolean }) {
  const t = useMessages(roleMessages);
  const texts = useMessages(formMessages);
  const isForUsers = role.type === 'USER';
  return (
    <ActionForm
      document={UpdateRole}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: z.string().check(z.trim(), z.minLength(1, texts.required)),
        description: z.string(),
        isDefault: z.boolean(),
      })}
      values={{
        name: role.name,
        description: role.description ?? '',
        isDefault: role.isDefault,
      }}
      toInput={({ name, description, isDefault }) => ({
        id: role.id,
        name: name.trim(),
        description: description.trim() || null,
        ...(isForUsers ? { isDefault } : {}),
      })}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <TextField name="name" label={t.name} />
      <TextField name="description" label={t.description} isOptional />
      {isForUsers && <CheckField name="isDefault" label={t.isDefault} hint={t.defaultHint} />}
    </ActionForm>
  );
}
