import { type Draft, knownLanguage } from '../draft.ts';
import type { Part } from '../part.ts';

const identifierTypes: Readonly<Record<string, string>> = {
  username: 'USERNAME',
  email: 'EMAIL',
  phone: 'PHONE',
};

const factors: Readonly<Record<string, string>> = {
  Totp: 'TOTP',
  WebAuthn: 'PASSKEY',
  BackupCode: 'BACKUP_CODES',
};

const known = (table: Readonly<Record<string, string>>, names: readonly (string | undefined)[]) =>
  names.flatMap((name) =>
    name !== undefined && Object.hasOwn(table, name) ? table[name] : [],
  ) as string[];

const orNone = (list: readonly string[]) => (list.length > 0 ? [...new Set(list)] : undefined);

function factorPolicyOf(mfa: Part): string | undefined {
  const policy = mfa.text('policy');
  if (policy === undefined) return undefined;
  return /Mandatory$/.test(policy) ? 'REQUIRED' : 'OPTIONAL';
}

/** Reads the sign-in experience. */
export function readSignIn(part: Part, draft: Draft): void {
  const methods = part.get('signIn').list('methods');
  const signUp = part.get('signUp');
  const secondary = signUp.list('secondaryIdentifiers').map((one) => one.text('identifier'));
  const mode = part.text('signInMode');
  const mfa = part.get('mfa');
  const passwords = part.get('passwordPolicy');
  const rejects = passwords.get('rejects');
  const sentinel = part.get('sentinelPolicy');
  const minutes = sentinel.number('lockoutDuration');
  draft.signIn(part, {
    signUpEnabled: mode === undefined ? undefined : mode !== 'SignIn',
    signInIdentifiers: orNone(
      known(
        identifierTypes,
        methods.map((one) => one.text('identifier')),
      ),
    ),
    signUpIdentifiers: orNone(
      known(identifierTypes, [...signUp.texts('identifiers'), ...secondary]),
    ),
    ...(methods.length > 0
      ? {
          passwordEnabled: methods.some((one) => one.flag('password')),
          codeEnabled: methods.some((one) => one.flag('verificationCode')),
        }
      : {}),
    passwordPolicy: {
      minLength: passwords.get('length').number('min'),
      rejectCommon: rejects.flag('pwned'),
      rejectUserData: rejects.flag('userInfo'),
      blocklist: orNone(rejects.texts('words')),
    },
    lockoutPolicy: {
      maxAttempts: sentinel.number('maxAttempts'),
      lockSeconds: minutes === undefined ? undefined : minutes * 60,
    },
    factors: orNone(known(factors, mfa.texts('factors'))),
    factorPolicy: factorPolicyOf(mfa),
    branding: {
      primaryColor: part.get('color').text('primaryColor'),
      logoUrl: part.get('branding').text('logoUrl'),
      termsUrl: part.text('termsOfUseUrl') || undefined,
      privacyUrl: part.text('privacyPolicyUrl') || undefined,
    },
    defaultLanguage: knownLanguage(part.get('languageInfo').text('fallbackLanguage')),
  });
  for (const factor of mfa.texts('factors')) {
    if (!Object.hasOwn(factors, factor)) {
      part.leave(`mfa.factors: ${factor} is not taken: Signet has no such second factor`);
    }
  }
  rejects.leaveUnread();
  passwords.leaveUnread('Signet has no such rule');
  part.ignore('id', 'tenantId');
  part.leaveUnread();
}
