import * as z from 'zod/mini';
import type { RoleFieldsFragment } from '../generated/graphql.ts';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { changedDescribed, filledText } from '../kit/forms/described.ts';
import { CheckField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { DeleteSection } from '../kit/records/delete-record.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { DeleteRole, UpdateRole } from './documents.ts';
import { roleMessages } from './messages.ts';
import { RoleScopesSection } from './scopes-section.tsx';

/** The scopes, the settings and the deletion. */
export function GeneralTab({ role }: { role: RoleFieldsFragment }) {
  const t = useMessages(roleMessages);
  const canWrite = useCan('roles:write');
  return (
    <>
      <RoleScopesSection roleId={role.id} />
      <Section title={t.settings}>
        <SettingsForm role={role} isReadOnly={!canWrite} />
      </Section>
      {canWrite && (
        <DeleteSection
          texts={t}
          name={role.name}
          alsoDeleted={[t.deletesHolders, t.deletesScopes]}
          document={DeleteRole}
          input={{ id: role.id }}
          to="/roles"
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
      record={role}
      isReadOnly={isReadOnly}
      schema={z.object({
        name: filledText(texts.required),
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
        ...changedDescribed({ name, description }),
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
