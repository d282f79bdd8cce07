import { everything, type SetterScopes } from '../auth/granting/setter-scopes.ts';
import type { Transaction } from '../db/around.ts';
import { rowsIn } from '../db/rows/rows.ts';
import type {
  FactorType,
  PrismaClient,
  SignInExperience as StoredRow,
} from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';

/** The kinds of identifiers of a person. */
export const identifierTypes = ['USERNAME', 'EMAIL', 'PHONE'] as const;

/** A kind of identifier of a person. */
export type IdentifierType = (typeof identifierTypes)[number];

/** Whether everybody must use a second factor. */
export const factorPolicies = ['OPTIONAL', 'REQUIRED'] as const;

/** How people sign up and sign in. */
export interface SignInExperience {
  readonly signUpEnabled: boolean;
  /** The identifiers that a sign-up asks for; the first is required. */
  readonly signUpIdentifiers: readonly IdentifierType[];
  readonly signInIdentifiers: readonly IdentifierType[];
  readonly passwordEnabled: boolean;
  readonly codeEnabled: boolean;
  readonly passwordPolicy: PasswordPolicy;
  readonly codePolicy: CodePolicy;
  readonly lockoutPolicy: LockoutPolicy;
  readonly factors: readonly FactorType[];
  readonly factorPolicy: (typeof factorPolicies)[number];
  readonly sessionPolicy: SessionPolicy;
  readonly branding: Branding;
  readonly defaultLanguage: Language;
}

/** The rules for passwords (NIST SP 800-63B-4 §3.1.1.2). */
export interface PasswordPolicy {
  /** In code points, after NFC. */
  readonly minLength: number;
  readonly rejectCommon: boolean;
  readonly rejectUserData: boolean;
  /** Words that no password may be made of, in addition to the common passwords. */
  readonly blocklist: readonly string[];
}

/** The rules for codes. */
export interface CodePolicy {
  readonly ttlSeconds: number;
  readonly maxAttempts: number;
  /** The most messages to one recipient in a window. */
  readonly sendLimit: number;
  readonly sendWindowSeconds: number;
}

/** When an identifier is locked (NIST SP 800-63B-4 §3.2.2). */
export interface LockoutPolicy {
  readonly maxAttempts: number;
  readonly windowSeconds: number;
  readonly lockSeconds: number;
}

/** How long a browser stays signed in. */
export interface SessionPolicy {
  /** The longest time without use. */
  readonly idleSeconds: number;
  readonly maxSeconds: number;
}

/** How pages look. */
export interface Branding {
  readonly productName: string;
  readonly logoUrl: string | null;
  /** `#rrggbb`; text in it or on it is made readable. Null: Signet's own color. */
  readonly primaryColor: string | null;
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
}

/** The default settings. */
export const defaultSignInExperience: SignInExperience = {
  signUpEnabled: true,
  signUpIdentifiers: ['USERNAME'],
  signInIdentifiers: ['USERNAME', 'EMAIL', 'PHONE'],
  passwordEnabled: true,
  codeEnabled: true,
  passwordPolicy: { minLength: 8, rejectCommon: true, rejectUserData: true, blocklist: [] },
  codePolicy: { ttlSeconds: 600, maxAttempts: 10, sendLimit: 10, sendWindowSeconds: 600 },
  lockoutPolicy: { maxAttempts: 10, windowSeconds: 3600, lockSeconds: 900 },
  factors: [],
  factorPolicy: 'OPTIONAL',
  sessionPolicy: { idleSeconds: 1_209_600, maxSeconds: 2_592_000 },
  branding: {
    productName: 'Signet',
    logoUrl: null,
    primaryColor: null,
    termsUrl: null,
    privacyUrl: null,
  },
  defaultLanguage: 'en',
};

/** The id of the one row that holds the settings. */
export const settingsId = 'settings';

/**
 * Reads how people sign up and sign in: one look-up by primary key, cheap enough for each request. Settings that were
 * never changed have their defaults.
 */
export const readSignInExperience = async (client: SettingsClient): Promise<SignInExperience> =>
  withDefaults((await readKeptSettings(client)).stored);

type SettingsClient = Transaction | PrismaClient;

/** The settings that were changed, and what is kept of who changed them. */
export interface KeptSettings {
  readonly stored: StoredSettings;
  /** The same, as callers with `all` left them. */
  readonly vouched: StoredSettings;
  /** What everybody held who made the settings weaker than those. */
  readonly weakenerScopes: SetterScopes;
}

/** Reads the settings that were changed, and what is kept of who changed them. */
export async function readKeptSettings(client: SettingsClient): Promise<KeptSettings> {
  const row = await readRow(client);
  // Only `updateSignInExperience` writes these values, and it has checked them.
  return {
    stored: (row?.settings ?? {}) as StoredSettings,
    // Whoever left the settings before this was kept counts as somebody who could do everything.
    vouched: (row?.vouchedSettings ?? row?.settings ?? {}) as StoredSettings,
    weakenerScopes: row?.weakenerScopes ?? everything,
  };
}

/** The version of the settings: 1 before the first change. */
export const readSettingsVersion = async (client: SettingsClient): Promise<number> =>
  (await readRow(client))?.version ?? 1;

/** What whoever opened the sign-up held: who signs up holds no more of the management API. */
export const readOpenerScopes = async (client: SettingsClient): Promise<SetterScopes> =>
  (await readRow(client))?.setterScopes ?? everything;

const readRow = (client: SettingsClient) =>
  rowsIn<StoredRow>(client, 'SignInExperience').findUnique({ where: { id: settingsId } });

/** The settings that were changed; in a group, the fields that were changed. */
export type StoredSettings = {
  readonly [Field in keyof SignInExperience]?: SignInExperience[Field] extends readonly unknown[]
    ? SignInExperience[Field]
    : SignInExperience[Field] extends object
      ? Partial<SignInExperience[Field]>
      : SignInExperience[Field];
};

/** Settings, with defaults for everything absent. */
export function withDefaults(stored: StoredSettings): SignInExperience {
  const defaults = defaultSignInExperience;
  return {
    ...defaults,
    ...stored,
    passwordPolicy: { ...defaults.passwordPolicy, ...stored.passwordPolicy },
    codePolicy: { ...defaults.codePolicy, ...stored.codePolicy },
    lockoutPolicy: { ...defaults.lockoutPolicy, ...stored.lockoutPolicy },
    sessionPolicy: { ...defaults.sessionPolicy, ...stored.sessionPolicy },
    branding: { ...defaults.branding, ...stored.branding },
  };
}
