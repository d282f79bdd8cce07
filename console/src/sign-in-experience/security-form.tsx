import * as z from 'zod/mini';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { DurationField } from '../kit/forms/duration-field.tsx';
import { CheckField, TextField } from '../kit/forms/fields.tsx';
import { ListField } from '../kit/forms/list-field.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { UpdateExperience } from './documents.ts';
import { experienceMessages } from './messages.ts';
import { Part, type TabForm } from './part.tsx';
import styles from './sign-in-experience.module.css';
import { securityInput } from './values.ts';

/** What protects an account. */
export function SecurityForm({ experience, values, isReadOnly }: Omit<TabForm, 'onValues'>) {
  const texts = useMessages(formMessages);
  const { passwordPolicy, codePolicy, lockoutPolicy, sessionPolicy } = values;
  return (
    <ActionForm
      document={UpdateExperience}
      record={experience}
      isReadOnly={isReadOnly}
      schema={useSchema()}
      values={{ passwordPolicy, codePolicy, lockoutPolicy, sessionPolicy }}
      toInput={securityInput}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <PasswordPart />
      <CodePart />
      <LockoutPart />
      <SessionPart />
    </ActionForm>
  );
}

function useSchema() {
  const t = useMessages(experienceMessages);
  const count = z.int(t.wholeNumber).check(z.gte(1, t.wholeNumber));
  return z.object({
    passwordPolicy: z.object({
      minLength: count,
      rejectCommon: z.boolean(),
      rejectUserData: z.boolean(),
      blocklist: z.array(z.string()),
    }),
    codePolicy: z.object({
      ttlSeconds: count,
      maxAttempts: count,
      sendLimit: count,
      sendWindowSeconds: count,
    }),
    lockoutPolicy: z.object({ maxAttempts: count, windowSeconds: count, lockSeconds: count }),
    sessionPolicy: z.object({ idleSeconds: count, maxSeconds: count }),
  });
}

function PasswordPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.passwords} about={t.passwordsAbout}>
      <TextField
        name="passwordPolicy.minLength"
        type="number"
        label={t.minLength}
        hint={t.minLengthHint}
      />
      <CheckField name="passwordPolicy.rejectCommon" label={t.rejectCommon} />
      <CheckField name="passwordPolicy.rejectUserData" label={t.rejectUserData} />
      <ListField name="passwordPolicy.blocklist" label={t.blocklist} />
    </Part>
  );
}

function CodePart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.codes}>
      <div className={styles.numbers}>
        <DurationField name="codePolicy.ttlSeconds" label={t.ttlSeconds} hint={t.ttlHint} />
        <TextField
          name="codePolicy.maxAttempts"
          type="number"
          label={t.codeAttempts}
          hint={t.codeAttemptsHint}
        />
        <TextField
          name="codePolicy.sendLimit"
          type="number"
          label={t.sendLimit}
          hint={t.sendLimitHint}
        />
        <DurationField name="codePolicy.sendWindowSeconds" label={t.sendWindow} />
      </div>
    </Part>
  );
}

function LockoutPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.lockout} about={t.lockoutAbout}>
      <div className={styles.numbers}>
        <TextField
          name="lockoutPolicy.maxAttempts"
          type="number"
          label={t.failures}
          hint={t.failuresHint}
        />
        <DurationField name="lockoutPolicy.windowSeconds" label={t.windowSeconds} />
        <DurationField name="lockoutPolicy.lockSeconds" label={t.lockSeconds} />
      </div>
    </Part>
  );
}

function SessionPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.sessions} about={t.sessionsAbout}>
      <div className={styles.numbers}>
        <DurationField name="sessionPolicy.idleSeconds" label={t.idleSeconds} />
        <DurationField name="sessionPolicy.maxSeconds" label={t.maxSeconds} />
      </div>
    </Part>
  );
}
