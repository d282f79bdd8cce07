import { filled } from '../forms/list-field.tsx';
import type {
  ExperienceFieldsFragment,
  UpdateSignInExperienceInput,
} from '../generated/graphql.ts';

/** The settings as a form holds them: an empty text stands for none. */
export type ExperienceValues = Omit<ExperienceFieldsFragment, '__typename' | 'branding'> & {
  branding: {
    productName: string;
    logoUrl: string;
    primaryColor: string;
    termsUrl: string;
    privacyUrl: string;
  };
};

/** The settings, as the form begins with them. */
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

/** What is sent for the form's values. */
export const inputOf = ({
  branding,
  passwordPolicy,
  ...settings
}: ExperienceValues): UpdateSignInExperienceInput => ({
  ...settings,
  passwordPolicy: { ...passwordPolicy, blocklist: filled(passwordPolicy.blocklist) },
  branding: {
    productName: branding.productName.trim() || null,
    logoUrl: branding.logoUrl.trim() || null,
    primaryColor: branding.primaryColor.trim() || null,
    termsUrl: branding.termsUrl.trim() || null,
    privacyUrl: branding.privacyUrl.trim() || null,
  },
});
