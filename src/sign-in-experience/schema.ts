import { InvalidInputError, NotAllowedError } from '../errors.ts';
import type { FactorType } from '../generated/prisma/client.ts';
import { builder, everyGraph } from '../graphql/builder.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutations/mutation.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { updateSignInExperience } from './operations.ts';
import {
  type Branding,
  type CodePolicy,
  type LockoutPolicy,
  type PasswordPolicy,
  readSettingsVersion,
  readSignInExperience,
  type SessionPolicy,
  type SignInExperience,
} from './settings.ts';

/** The kinds of identifiers of a person. */
export const IdentifierTypeEnum = builder.enumType('IdentifierType', {
  description: 'A kind of identifier of a person.',
  values: {
    USERNAME: { description: 'A user name.' },
    EMAIL: { description: 'An e-mail address.' },
    PHONE: { description: 'A telephone number.' },
  } as const,
});

/** The second factors that can be offered. */
export const FactorTypeEnum = builder.enumType('FactorType', {
  subGraphs: everyGraph,
  description: 'A second factor.',
  values: {
    TOTP: { description: 'A one-time password of an authenticator app (RFC 6238).' },
    PASSKEY: { description: 'A passkey (WebAuthn).' },
    BACKUP_CODES: { description: 'Codes that replace another factor, each once.' },
  } as const satisfies Record<FactorType, object>,
});

const FactorPolicyEnum = builder.enumType('FactorPolicy', {
  description: 'Who must use a second factor.',
  values: {
    OPTIONAL: { description: 'Only people who have enrolled one.' },
    REQUIRED: { description: 'Everybody. A person without one enrols it at the next sign-in.' },
  } as const,
});

const LanguageEnum = builder.enumType('Language', {
  description: 'A language of pages and messages.',
  values: { en: { description: 'English.' }, de: { description: 'German.' } } as const,
});

const texts = {
  minLength:
    'The least length in code points after NFC: from 8 to 64. NIST asks for 15 if a password is the only factor.',
  rejectCommon: 'Whether common passwords are rejected.',
  rejectUserData: "Whether passwords made of the person's or the product's names are rejected.",
  blocklist: 'Words of your own that no password may be made of, at most 1,000.',
  ttlSeconds: 'How long a code is valid, in seconds: at most 600.',
  codeAttempts: 'How often the codes to one address may be tried, from 1 to 100.',
  sendLimit: 'How many messages of one kind a recipient gets in a window, from 1 to 100.',
  sendWindowSeconds: 'The length of that window, in seconds.',
  maxAttempts: 'How many failures in a row lock an identifier, from 1 to 100.',
  windowSeconds: 'The time within which these failures count, in seconds.',
  lockSeconds: 'How long the identifier is locked, in seconds.',
  idleSeconds: 'How long a browser stays signed in without use, in seconds.',
  maxSeconds: 'The longest time that a browser stays signed in, in seconds.',
  productName: 'The name of your product, in pages and messages.',
  logoUrl: 'The http or https URL of a picture.',
  primaryColor: 'The colour of buttons and links, such as `#1d4ed8`.',
  termsUrl: 'The URL of the terms of service.',
  privacyUrl: 'The URL of the privacy policy.',
  signUpEnabled: 'Whether strangers may register.',
  signUpIdentifiers: 'The identifiers that a sign-up asks for; the first is required.',
  signInIdentifiers: 'The identifiers that a person may sign in with.',
  passwordEnabled: 'Whether people sign in by password.',
  codeEnabled: 'Whether people sign in by a code sent to their address.',
  passwordPolicy: 'The rules for passwords (NIST SP 800-63B-4 §3.1.1.2).',
  codePolicy: 'The rules for codes.',
  lockoutPolicy: 'When an identifier is locked (NIST SP 800-63B-4 §3.2.2).',
  factors: 'The second factors that are offered.',
  factorPolicy: 'Who must use a second factor.',
  sessionPolicy: 'How long a browser stays signed in.',
  branding: 'How pages look.',
  defaultLanguage: 'The language of pages and messages for a person who asks for no other.',
} as const;

const PasswordPolicyObject = builder.objectRef<PasswordPolicy>('PasswordPolicy').implement({
  description: texts.passwordPolicy,
  fields: (t) => ({
    minLength: t.exposeInt('minLength', { description: texts.minLength }),
    rejectCommon: t.exposeBoolean('rejectCommon', { description: texts.rejectCommon }),
    rejectUserData: t.exposeBoolean('rejectUserData', { description: texts.rejectUserData }),
    blocklist: t.field({
      type: ['String'],
      description: texts.blocklist,
      resolve: ({ blocklist }) => [...blocklist],
    }),
  }),
});

const CodePolicyObject = builder.objectRef<CodePolicy>('CodePolicy').implement({
  description: texts.codePolicy,
  fields: (t) => ({
    ttlSeconds: t.exposeInt('ttlSeconds', { description: texts.ttlSeconds }),
    maxAttempts: t.exposeInt('maxAttempts', { description: texts.codeAttempts }),
    sendLimit: t.exposeInt('sendLimit', { description: texts.sendLimit }),
    sendWindowSeconds: t.exposeInt('sendWindowSeconds', { description: texts.sendWindowSeconds }),
  }),
});

const LockoutPolicyObject = builder.objectRef<LockoutPolicy>('LockoutPolicy').implement({
  description: texts.lockoutPolicy,
  fields: (t) => ({
    maxAttempts: t.exposeInt('maxAttempts', { description: texts.maxAttempts }),
    windowSeconds: t.exposeInt('windowSeconds', { description: texts.windowSeconds }),
    lockSeconds: t.exposeInt('lockSeconds', { description: texts.lockSeconds }),
  }),
});

const SessionPolicyObject = builder.objectRef<SessionPolicy>('SessionPolicy').implement({
  description: texts.sessionPolicy,
  fields: (t) => ({
    idleSeconds: t.exposeInt('idleSeconds', { description: texts.idleSeconds }),
    maxSeconds: t.exposeInt('maxSeconds', { description: texts.maxSeconds }),
  }),
});

const BrandingObject = builder.objectRef<Branding>('Branding').implement({
  description: texts.branding,
  fields: (t) => ({
    productName: t.exposeString('productName', { description: texts.productName }),
    logoUrl: t.expose('logoUrl', { type: 'URL', nullable: true, description: texts.logoUrl }),
    primaryColor: t.exposeString('primaryColor', {
      nullable: true,
      description: texts.primaryColor,
    }),
    termsUrl: t.expose('termsUrl', { type: 'URL', nullable: true, description: texts.termsUrl }),
    privacyUrl: t.expose('privacyUrl', {
      type: 'URL',
      nullable: true,
      description: texts.privacyUrl,
    }),
  }),
});

const SignInExperienceObject = builder.objectRef<SignInExperience>('SignInExperience').implement({
  description: 'How people sign up and sign in.',
  authScopes: { scope: 'experience:read' },
  fields: (t) => ({
    version: t.int({
      description: versionDescription,
      resolve: (_settings, _args, { database }) => readSettingsVersion(database.prisma),
    }),
    signUpEnabled: t.exposeBoolean('signUpEnabled', { description: texts.signUpEnabled }),
    signUpIdentifiers: t.field({
      type: [IdentifierTypeEnum],
      description: texts.signUpIdentifiers,
      resolve: ({ signUpIdentifiers }) => [...signUpIdentifiers],
    }),
    signInIdentifiers: t.field({
      type: [IdentifierTypeEnum],
      description: texts.signInIdentifiers,
      resolve: ({ signInIdentifiers }) => [...signInIdentifiers],
    }),
    passwordEnabled: t.exposeBoolean('passwordEnabled', { description: texts.passwordEnabled }),
    codeEnabled: t.exposeBoolean('codeEnabled', { description: texts.codeEnabled }),
    passwordPolicy: t.expose('passwordPolicy', {
      type: PasswordPolicyObject,
      description: texts.passwordPolicy,
    }),
    codePolicy: t.expose('codePolicy', {
      type: CodePolicyObject,
      description: texts.codePolicy,
    }),
    lockoutPolicy: t.expose('lockoutPolicy', {
      type: LockoutPolicyObject,
      description: texts.lockoutPolicy,
    }),
    factors: t.field({
      type: [FactorTypeEnum],
      description: texts.factors,
      resolve: ({ factors }) => [...factors],
    }),
    factorPolicy: t.expose('factorPolicy', {
      type: FactorPolicyEnum,
      description: texts.factorPolicy,
    }),
    sessionPolicy: t.expose('sessionPolicy', {
      type: SessionPolicyObject,
      description: texts.sessionPolicy,
    }),
    branding: t.expose('branding', { type: BrandingObject, description: texts.branding }),
    defaultLanguage: t.expose('defaultLanguage', {
      type: LanguageEnum,
      description: texts.defaultLanguage,
    }),
  }),
});

builder.queryFields((t) => ({
  signInExperience: t.field({
    type: SignInExperienceObject,
    description: 'How people sign up and sign in.',
    authScopes: { scope: 'experience:read' },
    resolve: (_root, _args, { database }) => readSignInExperience(database.prisma),
  }),
}));

const PasswordPolicyInput = builder.inputType('PasswordPolicyInput', {
  description: 'The fields of the password policy to change; null restores a default.',
  fields: (t) => ({
    minLength: t.int({ description: texts.minLength }),
    rejectCommon: t.boolean({ description: texts.rejectCommon }),
    rejectUserData: t.boolean({ description: texts.rejectUserData }),
    blocklist: t.stringList({ description: texts.blocklist }),
  }),
});

const CodePolicyInput = builder.inputType('CodePolicyInput', {
  description: 'The fields of the code policy to change; null restores a default.',
  fields: (t) => ({
    ttlSeconds: t.int({ description: texts.ttlSeconds }),
    maxAttempts: t.int({ description: texts.codeAttempts }),
    sendLimit: t.int({ description: texts.sendLimit }),
    sendWindowSeconds: t.int({ description: texts.sendWindowSeconds }),
  }),
});

const LockoutPolicyInput = builder.inputType('LockoutPolicyInput', {
  description: 'The fields of the lockout policy to change; null restores a default.',
  fields: (t) => ({
    maxAttempts: t.int({ description: texts.maxAttempts }),
    windowSeconds: t.int({ description: texts.windowSeconds }),
    lockSeconds: t.int({ description: texts.lockSeconds }),
  }),
});

const SessionPolicyInput = builder.inputType('SessionPolicyInput', {
  description: 'The fields of the session policy to change; null restores a default.',
  fields: (t) => ({
    idleSeconds: t.int({ description: texts.idleSeconds }),
    maxSeconds: t.int({ description: texts.maxSeconds }),
  }),
});

const BrandingInput = builder.inputType('BrandingInput', {
  description: 'The fields of the branding to change; null restores a default.',
  fields: (t) => ({
    productName: t.string({ description: texts.productName }),
    logoUrl: t.field({ type: 'URL', description: texts.logoUrl }),
    primaryColor: t.string({ description: texts.primaryColor }),
    termsUrl: t.field({ type: 'URL', description: texts.termsUrl }),
    privacyUrl: t.field({ type: 'URL', description: texts.privacyUrl }),
  }),
});

const settingsFields = (t: InputFields) => ({
  signUpEnabled: t.boolean({ description: texts.signUpEnabled }),
  signUpIdentifiers: t.field({ type: [IdentifierTypeEnum], description: texts.signUpIdentifiers }),
  signInIdentifiers: t.field({ type: [IdentifierTypeEnum], description: texts.signInIdentifiers }),
  passwordEnabled: t.boolean({ description: texts.passwordEnabled }),
  codeEnabled: t.boolean({ description: texts.codeEnabled }),
  passwordPolicy: t.field({ type: PasswordPolicyInput, description: texts.passwordPolicy }),
  codePolicy: t.field({ type: CodePolicyInput, description: texts.codePolicy }),
  lockoutPolicy: t.field({ type: LockoutPolicyInput, description: texts.lockoutPolicy }),
  factors: t.field({ type: [FactorTypeEnum], description: texts.factors }),
  factorPolicy: t.field({ type: FactorPolicyEnum, description: texts.factorPolicy }),
  sessionPolicy: t.field({ type: SessionPolicyInput, description: texts.sessionPolicy }),
  branding: t.field({ type: BrandingInput, description: texts.branding }),
  defaultLanguage: t.field({ type: LanguageEnum, description: texts.defaultLanguage }),
});

addMutation('updateSignInExperience', {
  description:
    'Changes how people sign up and sign in. An absent field stays as it is; null restores its default. In a group, such as `passwordPolicy`, only the given fields change. Raises `SignInExperience.Updated` if something changed. What a caller without `all` makes weaker is in force for nobody who holds more of the management API than the caller: for them the stricter of it and of what a caller with `all` left is. A caller with `all` answers for each field that it gives.',
  scope: 'experience:write',
  input: settingsFields,
  payload: (t: PayloadFields<{ signInExperience: SignInExperience }>) => ({
    signInExperience: t.field({
      type: SignInExperienceObject,
      description: 'The current settings.',
      resolve: ({ signInExperience }) => signInExperience,
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: async (input, context) => ({
    signInExperience: await updateSignInExperience(context, input),
  }),
});
