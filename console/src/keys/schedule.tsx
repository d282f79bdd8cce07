import * as z from 'zod/mini';
import { useData } from '../kit/api/use-data.ts';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { toast } from '../kit/toasts.ts';
import { KeySchedule, UpdateKeySchedule } from './documents.ts';
import { keyMessages } from './messages.ts';

/** When a new key is made by itself. */
export function Schedule() {
  const t = useMessages(keyMessages);
  const texts = useMessages(formMessages);
  const { data } = useData(KeySchedule, {});
  if (!data) return null;
  const days = data.serviceSettings.signingKeyRotationDays;
  return (
    <Section title={t.schedule} about={t.scheduleAbout}>
      <ActionForm
        document={UpdateKeySchedule}
        record={data.serviceSettings}
        schema={z.object({
          signingKeyRotationDays: z.string().check(z.trim(), z.regex(/^\d*$/, t.wholeDays)),
        })}
        values={{ signingKeyRotationDays: days === null ? '' : String(days) }}
        toInput={({ signingKeyRotationDays: typed }) => ({
          signingKeyRotationDays: typed === '' ? null : Number(typed),
        })}
        onDone={() => toast.done(texts.saved)}
        submit={texts.save}
      >
        <TextField
          name="signingKeyRotationDays"
          label={t.scheduleDays}
          hint={t.scheduleHint}
          isOptional
        />
      </ActionForm>
    </Section>
  );
}
