import * as z from 'zod/mini';
import type { OrganizationQuery } from '../generated/graphql.ts';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { changedDescribed, filledText } from '../kit/forms/described.ts';
import { CheckField, TextAreaField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { isObjectText, objectIn, objectText } from '../kit/forms/object-text.ts';
import { useMessages } from '../kit/language/language.ts';
import { DeleteSection } from '../kit/records/delete-record.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { DeleteOrganization, UpdateOrganization } from './documents.ts';
import { organizationMessages } from './messages.ts';

type ShownOrganization = NonNullable<OrganizationQuery['organization']>;

/** The settings and the deletion. */
export function SettingsTab({ organization }: { organization: ShownOrganization }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const canWrite = useCan('organizations:write');
  const { id, name } = organization;
  return (
    <>
      <Section title={t.tabs.settings}>
        <ActionForm
          document={UpdateOrganization}
          record={organization}
          isReadOnly={!canWrite}
          schema={z.object({
            name: filledText(texts.required),
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
            ...changedDescribed(values),
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
        <DeleteSection
          texts={t}
          name={name}
          alsoDeleted={[t.deletesMembers, t.deletesInvitations, t.deletesDomains]}
          document={DeleteOrganization}
          input={{ id }}
          to="/organizations"
        />
      )}
    </>
  );
}
