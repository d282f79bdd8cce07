import { useId } from 'react';
import { useController } from 'react-hook-form';
import * as z from 'zod/mini';
import type { IdentifierType } from '../generated/graphql.ts';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { CheckGroups, choicesOf, RadioCards } from '../kit/forms/choices.tsx';
import { CheckField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { toast } from '../kit/toasts.ts';
import { UpdateExperience } from './documents.ts';
import { experienceMessages } from './messages.ts';
import { Part, type TabForm, Watched } from './part.tsx';
import styles from './sign-in-experience.module.css';

const identifiers = ['USERNAME', 'EMAIL', 'PHONE'] as const;
const factorTypes = ['TOTP', 'PASSKEY', 'BACKUP_CODES'] as const;
const factorPolicies = ['OPTIONAL', 'REQUIRED'] as const;

/** How people sign up and sign in. */
export function MethodsForm({ experience, values, isReadOnly, onValues }: TabForm) {
  const texts = useMessages(formMessages);
  const {
    signInIdentifiers,
    passwordEnabled,
    codeEnabled,
    signUpEnabled,
    signUpIdentifiers,
    factors,
    factorPolicy,
  } = values;
  return (
    <ActionForm
      document={UpdateExperience}
      record={experience}
      isReadOnly={isReadOnly}
      schema={useSchema()}
      values={{
        signInIdentifiers,
        passwordEnabled,
        codeEnabled,
        signUpEnabled,
        signUpIdentifiers,
        factors,
        factorPolicy,
      }}
      toInput={(sent) => sent}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <Watched onValues={onValues} />
      <SignInPart />
      <SignUpPart />
      <FactorPart />
    </ActionForm>
  );
}

function useSchema() {
  const t = useMessages(experienceMessages);
  const some = z.array(z.enum(identifiers)).check(z.minLength(1, t.oneAtLeast));
  return z.object({
    signInIdentifiers: some,
    passwordEnabled: z.boolean(),
    codeEnabled: z.boolean(),
    signUpEnabled: z.boolean(),
    signUpIdentifiers: some,
    factors: z.array(z.enum(factorTypes)),
    factorPolicy: z.enum(factorPolicies),
  });
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

// The first identifier of the list is the required one.
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
            choices: factorTypes.map((value) => ({ value, label: t.factorNames[value] })),
          },
        ]}
      />
      <RadioCards
        name="factorPolicy"
        label={t.factorPolicy}
        choices={choicesOf(factorPolicies, t.factorPolicies, t.factorPolicyTexts)}
      />
    </Part>
  );
}
