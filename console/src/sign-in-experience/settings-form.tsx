import { type ReactNode, useEffect, useId } from 'react';
import { useController, useFormContext, useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckGroups, RadioCards } from '../forms/choices.tsx';
import { CheckField, SelectField, TextField } from '../forms/fields.tsx';
import { ListField } from '../forms/list-field.tsx';
import { formMessages } from '../forms/messages.ts';
import type { IdentifierType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { Section } from '../records/section.tsx';
import { isColor } from './colors.ts';
import { UpdateExperience } from './documents.ts';
import { experienceMessages } from './messages.ts';
import styles from './sign-in-experience.module.css';
import { type ExperienceValues, inputOf } from './values.ts';

const identifiers = ['USERNAME', 'EMAIL', 'PHONE'] as const;
const factors = ['TOTP', 'PASSKEY', 'BACKUP_CODES'] as const;
const factorPolicies = ['OPTIONAL', 'REQUIRED'] as const;

/** All settings in one form; `onValues` hears what is in it, saved or not. */
export function SettingsForm({
  values,
  isReadOnly,
  onValues,
}: {
  values: ExperienceValues;
  isReadOnly: boolean;
  onValues: (values: ExperienceValues) => void;
}) {
  const texts = useMessages(formMessages);
  return (
    <ActionForm
      document={UpdateExperience}
      isReadOnly={isReadOnly}
      schema={useSchema()}
      values={values}
      toInput={inputOf}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <Watched onValues={onValues} />
      <BrandingPart />
      <SignInPart />
      <SignUpPart />
      <PasswordPart />
      <CodePart />
      <FactorPart />
      <LockoutPart />
      <SessionPart />
    </ActionForm>
  );
}

function useSchema() {
  const t = useMessages(experienceMessages);
  const count = z.int(t.wholeNumber).check(z.gte(1, t.wholeNumber));
  const some = z.array(z.enum(identifiers)).check(z.minLength(1, t.oneAtLeast));
  return z.object({
    signUpEnabled: z.boolean(),
    signUpIdentifiers: some,
    signInIdentifiers: some,
    passwordEnabled: z.boolean(),
    codeEnabled: z.boolean(),
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
    factors: z.array(z.enum(factors)),
    factorPolicy: z.enum(factorPolicies),
    sessionPolicy: z.object({ idleSeconds: count, maxSeconds: count }),
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

function Watched({ onValues }: { onValues: (values: ExperienceValues) => void }) {
  const { control } = useFormContext<ExperienceValues>();
  const values = useWatch({ control });
  useEffect(() => onValues(values as ExperienceValues), [values, onValues]); // All fields have a value from the start.
  return null;
}

const Part = ({
  title,
  about,
  children,
}: {
  title: string;
  about?: string;
  children: ReactNode;
}) => (
  <Section title={title} about={about}>
    <div className={styles.part}>{children}</div>
  </Section>
);

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

function useIdentifierGroup() {
  const t = useMessages(experienceMessages);
  return [
    {
      label: t.allIdentifiers,
      choices: identifiers.map((value) => ({ value, label: t.identifiers[value] })),
    },
  ];
}

function SignInPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.signIn}>
      <CheckGroups
        name="signInIdentifiers"
        label={t.signInIdentifiers}
        groups={useIdentifierGroup()}
      />
      <CheckField name="passwordEnabled" label={t.passwordEnabled} />
      <CheckField name="codeEnabled" label={t.codeEnabled} hint={t.codeEnabledHint} />
    </Part>
  );
}

function SignUpPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.signUp}>
      <CheckField name="signUpEnabled" label={t.signUpEnabled} />
      <CheckGroups
        name="signUpIdentifiers"
        label={t.signUpIdentifiers}
        groups={useIdentifierGroup()}
      />
      <RequiredIdentifier />
    </Part>
  );
}

// The first of the list is the required one.
function RequiredIdentifier() {
  const t = useMessages(experienceMessages);
  const id = useId();
  const {
    field: { value, onChange },
  } = useController({ name: 'signUpIdentifiers' });
  const chosen = value as readonly IdentifierType[];
  if (chosen.length < 2) return null;
  return (
    <div>
      <label className={styles.label} htmlFor={id}>
        {t.signUpFirst}
      </label>
      <select
        id={id}
        className={styles.select}
        aria-describedby={`${id}-about`}
        value={chosen[0]}
        onChange={(event) => {
          const first = event.target.value as IdentifierType;
          onChange([first, ...chosen.filter((one) => one !== first)]);
        }}
      >
        {identifiers
          .filter((one) => chosen.includes(one))
          .map((one) => (
            <option key={one} value={one}>
              {t.identifiers[one]}
            </option>
          ))}
      </select>
      <p className={styles.about} id={`${id}-about`}>
        {t.signUpFirstHint}
      </p>
    </div>
  );
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
        <TextField
          name="codePolicy.ttlSeconds"
          type="number"
          label={t.ttlSeconds}
          hint={t.ttlHint}
        />
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
        <TextField name="codePolicy.sendWindowSeconds" type="number" label={t.sendWindow} />
      </div>
    </Part>
  );
}

function FactorPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.factorsTitle}>
      <CheckGroups
        name="factors"
        label={t.factors}
        groups={[
          {
            label: t.allFactors,
            choices: factors.map((value) => ({ value, label: t.factorNames[value] })),
          },
        ]}
      />
      <RadioCards
        name="factorPolicy"
        label={t.factorPolicy}
        choices={factorPolicies.map((value) => ({
          value,
          label: t.factorPolicies[value],
          description: t.factorPolicyTexts[value],
        }))}
      />
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
        <TextField name="lockoutPolicy.windowSeconds" type="number" label={t.windowSeconds} />
        <TextField name="lockoutPolicy.lockSeconds" type="number" label={t.lockSeconds} />
      </div>
    </Part>
  );
}

function SessionPart() {
  const t = useMessages(experienceMessages);
  return (
    <Part title={t.sessions} about={t.sessionsAbout}>
      <div className={styles.numbers}>
        <TextField name="sessionPolicy.idleSeconds" type="number" label={t.idleSeconds} />
        <TextField name="sessionPolicy.maxSeconds" type="number" label={t.maxSeconds} />
      </div>
    </Part>
  );
}
