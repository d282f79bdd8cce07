import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckField, TextAreaField, TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import { isObjectText, objectIn, objectText } from '../forms/object-text.ts';
import type { OrganizationQuery } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { DeleteRecord } from '../records/delete-record.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { DeleteOrganization, UpdateOrganization } from './documents.ts';
import { organizationMessages } from './messages.ts';

type ShownOrganization = NonNullable<OrganizationQuery['organization']>;

/** The name, the description, what applications keep; and the way to delete it. */
export function SettingsTab({ organization }: { organization: ShownOrganization }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const canWrite = useCan('organizations:write');
  const navigate = useNavigate();
  const { id, name } = organization;
  return (
    <>
      <Section title={t.tabs.settings}>
        <ActionForm
          document={UpdateOrganization}
          isReadOnly={!canWrite}
          schema={z.object({
            name: z.string().check(z.trim(), z.minLength(1, texts.required)),
            description: z.string(),
            customData: z.string().check(z.refine(isObjectText, t.notAnObject)),
            requiresFactor: z.boolean(),
          })}
          values={{
            name,
            description: organization.description ?? '',
            customData: objectText(organization.customData),
            requiresFactor: organization.requiresFactor,
          }}
          toInput={(values) => ({
            id,
            name: values.name.trim(),
            description: values.description.trim() || null,
            customData: objectIn(values.customData) ?? {},
            requiresFactor: values.requiresFactor,
          })}
          onDone={() => toast.done(texts.saved)}
          submit={texts.save}
        >
          <TextField name="name" label={t.name} />
          <TextField name="description" label={t.description} isOptional />
          <TextAreaField
            name="customData"
            label={t.customData}
            hint={t.customDataHint}
            isCode
            rows={4}
          />
          <CheckField name="requiresFactor" label={t.requiresFactor} hint={t.requiresFactorHint} />
        </ActionForm>
      </Section>
      {canWrite && (
        <Section
          title={t.deleteTitle}
          about={t.deleteAbout}
          isDangerous
          action={
            <DeleteRecord
              name={name}
              goesToo={[t.goesMembers, t.goesInvitations, t.goesDomains]}
              document={DeleteOrganization}
              input={{ id }}
              onDone={() => {
                toast.done(t.deleted(name));
                void navigate({ to: '/organizations' });
              }}
            />
          }
        />
      )}
    </>
  );
}
