import type {
  ExperienceFieldsFragment,
  UpdateSignInExperienceInput,
} from '../generated/graphql.ts';
import { filled } from '../kit/forms/list-field.tsx';

/** The form's values; an empty text means none. */
export type ExperienceValues = Omit<
  ExperienceFieldsFragment,
  '__typename' | 'branding' | 'version'
> & {
  branding: {
    productName: string;
    logoUrl: string;
    primaryColor: string;
    termsUrl: string;
    privacyUrl: string;
  };
};

/** The initial values of the form. */
export const valuesOfExperience = ({
  branding,
  passwordPolicy,
  codePolicy,
  lockoutPolicy,
  sessionPolicy,
  ...settings
}: ExperienceFieldsFragment): ExperienceValues => ({
  signUpEnabled: settings.signUpEnabled,
  signUpIdentifiers: settings.signUpIdentifiers,
  signInIdentifiers: settings.signInIdentifiers,
  passwordEnabled: settings.passwordEnabled,
  codeEnabled: settings.codeEnabled,
  factors: settings.factors,
  factorPolicy: settings.factorPolicy,
  defaultLanguage: settings.defaultLanguage,
  passwordPolicy: {
    minLength: passwordPolicy.minLength,
    rejectCommon: passwordPolicy.rejectCommon,
    rejectUserData: passwordPolicy.rejectUserData,
    blocklist: passwordPolicy.blocklist,
  },
  codePolicy: {
    ttlSeconds: codePolicy.ttlSeconds,
    maxAttempts: codePolicy.maxAttempts,
    sendLimit: codePolicy.sendLimit,
    sendWindowSeconds: codePolicy.sendWindowSeconds,
  },
  lockoutPolicy: {
    maxAttempts: lockoutPolicy.maxAttempts,
    windowSeconds: lockoutPolicy.windowSeconds,
    lockSeconds: lockoutPolicy.lockSeconds,
  },
  sessionPolicy: {
    idleSeconds: sessionPolicy.idleSeconds,
    maxSeconds: sessionPolicy.maxSeconds,
  },
  branding: {
    productName: branding.productName,
    logoUrl: branding.logoUrl ?? '',
    primaryColor: branding.primaryColor ?? '',
    termsUrl: branding.termsUrl ?? '',
    privacyUrl: branding.privacyUrl ?? '',
  },
});

type Group<Name extends keyof ExperienceValues> = Pick<ExperienceValues, Name>;

/** The mutation's input from the values of the branding; an empty text restores the default. */
export const brandingInput = ({
  branding,
  ...rest
}: Group<'branding' | 'defaultLanguage'>): UpdateSignInExperienceInput => ({
  ...rest,
  branding: {
    productName: branding.productName.trim() || null,
    logoUrl: branding.logoUrl.trim() || null,
    primaryColor: branding.primaryColor.trim() || null,
    termsUrl: branding.termsUrl.trim() || null,
    privacyUrl: branding.privacyUrl.trim() || null,
  },
});

/** The mutation's input from the values of what protects an account. */
export const securityInput = ({
  passwordPolicy,
  ...rest
}: Group<
  'passwordPolicy' | 'codePolicy' | 'lockoutPolicy' | 'sessionPolicy'
>): UpdateSignInExperienceInput => ({
  ...rest,
  passwordPolicy: { ...passwordPolicy, blocklist: filled(passwordPolicy.blocklist) },
});

/** What a preview needs of the values. */
export const draftOf = ({
  signUpEnabled,
  signUpIdentifiers,
  signInIdentifiers,
  passwordEnabled,
  codeEnabled,
  factors,
  branding,
  defaultLanguage,
}: ExperienceValues): UpdateSignInExperienceInput => ({
  signUpEnabled,
  signUpIdentifiers,
  signInIdentifiers,
  passwordEnabled,
  codeEnabled,
  factors,
  branding: brandingInput({ branding, defaultLanguage }).branding ?? null,
});
