import { type Draft, knownLanguage } from '../draft.ts';
import type { Part } from '../part.ts';
import type { Sections } from './sections.ts';

const hour = 60 * 60;

const factors: Readonly<Record<string, string>> = {
  otp: 'TOTP',
  'webauthn-roaming': 'PASSKEY',
  'webauthn-platform': 'PASSKEY',
  'recovery-code': 'BACKUP_CODES',
};

/** Reads how people sign in. */
export function readSignIn(sections: Sections, draft: Draft): void {
  const of = (name: string) => sections.get(name) ?? [];
  for (const tenant of of('tenant')) readTenant(tenant, draft);
  for (const branding of of('branding')) {
    draft.signIn(branding, {
      branding: {
        primaryColor: branding.get('colors').text('primary'),
        logoUrl: branding.text('logo_url'),
      },
    });
    branding.leaveUnread();
  }
  const [database, ...others] = of('databases');
  if (database) readDatabase(database, draft);
  for (const other of others) other.leave('is not taken: Signet has one directory of people');
  readFactors(of('guardianFactors'), of('guardianPolicies'), draft);
  for (const protection of of('bruteForceProtection')) {
    if (protection.flag('enabled') === false) continue;
    draft.signIn(protection, {
      lockoutPolicy: { maxAttempts: protection.number('max_attempts') },
    });
    protection.ignore('mode', 'shields');
    protection.leaveUnread();
  }
}

function readTenant(part: Part, draft: Draft): void {
  const seconds = (field: string) => {
    const hours = part.number(field);
    return hours === undefined ? undefined : Math.round(hours * hour);
  };
  draft.signIn(part, {
    branding: { productName: part.text('friendly_name'), logoUrl: part.text('picture_url') },
    sessionPolicy: {
      maxSeconds: seconds('session_lifetime'),
      idleSeconds: seconds('idle_session_lifetime'),
    },
    defaultLanguage: part
      .texts('enabled_locales')
      .map(knownLanguage)
      .find((one) => one),
  });
  part.leaveUnread();
}

function readDatabase(part: Part, draft: Draft): void {
  const options = part.get('options');
  const attributes = options.get('attributes');
  const signsInBy = (attribute: string) =>
    attributes.get(attribute).get('identifier').flag('active') === true;
  const identifiers = [
    ...(attributes.has('email') && !signsInBy('email') ? [] : ['EMAIL']),
    ...(options.flag('requires_username') || signsInBy('username') ? ['USERNAME'] : []),
    ...(signsInBy('phone_number') ? ['PHONE'] : []),
  ];
  const minLength = options.get('password_complexity_options').number('min_length');
  const dictionary = options.get('password_dictionary');
  draft.signIn(part, {
    signUpEnabled: options.flag('disable_signup') ? false : undefined,
    ...(identifiers.length > 0
      ? { signInIdentifiers: identifiers, signUpIdentifiers: identifiers }
      : {}),
    passwordPolicy: {
      minLength,
      rejectCommon: dictionary.flag('enable'),
      blocklist: dictionary.flag('enable') ? dictionary.texts('dictionary') : undefined,
      rejectUserData: options.get('password_no_personal_info').flag('enable'),
    },
  });
  if (options.has('passwordPolicy')) {
    options
      .get('passwordPolicy')
      .leave('Signet asks for the length of a password, not for kinds of characters');
  }
  options.ignore('strategy_version', 'brute_force_protection', 'customScripts');
  if (options.flag('enabledDatabaseCustomization')) {
    part.leave(
      'customScripts: people whose passwords are in a database of your own are not in the export',
    );
  }
  options.leaveUnread();
  part.ignore('name', 'strategy', 'id', 'realms', 'is_domain_connection', 'enabled_clients');
  part.leaveUnread();
}

function readFactors(given: readonly Part[], policies: readonly Part[], draft: Draft): void {
  const [first] = given;
  if (first) {
    const enabled = given.filter((factor) => factor.flag('enabled'));
    const known = enabled.flatMap((factor) => {
      const kind = factors[factor.text('name') ?? ''];
      if (kind === undefined) factor.leave('is not taken: Signet has no such second factor');
      return kind ?? [];
    });
    if (known.length > 0) draft.signIn(first, { factors: [...new Set(known)] });
  }
  for (const part of policies) {
    const names = part.texts('policies');
    const isForAll = names.includes('all-applications');
    draft.signIn(part, { factorPolicy: isForAll ? 'REQUIRED' : 'OPTIONAL' });
    if (!isForAll && names.length > 0) part.leave(`${names.join(', ')}: Signet has no such policy`);
  }
}
