import * as z from 'zod/mini';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { SelectField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { UpdateExperience } from './documents.ts';
import { experienceMessages } from './messages.ts';
import { Part, type TabForm, Watched } from './part.tsx';
import { brandingInput } from './values.ts';

/** How the pages look. */
export function BrandingForm({ experience, values, isReadOnly, onValues }: TabForm) {
  const texts = useMessages(formMessages);
  const { branding, defaultLanguage } = values;
  return (
    <ActionForm
      document={UpdateExperience}
      record={experience}
      isReadOnly={isReadOnly}
      schema={useSchema()}
      values={{ branding, defaultLanguage }}
      toInput={brandingInput}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <Watched onValues={onValues} />
      <BrandingPart />
    </ActionForm>
  );
}

function useSchema() {
  const t = useMessages(experienceMessages);
  return z.object({
    branding: z.object({
      productName: z.string(),
      logoUrl: z.string(),
      primaryColor: z
        .string()
        .check(z.refine((text) => text.trim() === '' || isColor(text.trim()), t.notAColor)),
      termsUrl: z.string(),
      privacyUrl: z.string(),
    }),
    defaultLanguage: z.enum(['en', 'de']),
  });
}

/** Whether a text is a color that the API accepts. */
const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

function BrandingPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.branding}>
      <TextField name="branding.productName" label={t.productName} hint={t.productNameHint} />
      <TextField
        name="branding.primaryColor"
        label={t.primaryColor}
        hint={t.primaryColorHint}
        placeholder="#1d4ed8"
        isCode
        isOptional
      />
      <TextField
        name="branding.logoUrl"
        type="url"
        label={t.logoUrl}
        hint={t.logoUrlHint}
        isOptional
      />
      <TextField name="branding.termsUrl" type="url" label={t.termsUrl} isOptional />
      <TextField name="branding.privacyUrl" type="url" label={t.privacyUrl} isOptional />
      <SelectField
        name="defaultLanguage"
        label={t.defaultLanguage}
        hint={t.defaultLanguageHint}
        options={[
          { value: 'en', label: t.languages.en },
          { value: 'de', label: t.languages.de },
        ]}
      />
    </Part>
  );
}
