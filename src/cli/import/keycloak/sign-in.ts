import { type Draft, knownLanguage } from '../draft.ts';
import type { Part } from '../part.ts';

/** Reads how people sign in to a realm. */
export function readSignIn(settings: Part, draft: Draft): void {
  const identifiers = settings.flag('registrationEmailAsUsername')
    ? ['EMAIL']
    : ['USERNAME', ...(settings.flag('loginWithEmailAllowed') ? ['EMAIL'] : [])];
  const isTold =
    settings.has('loginWithEmailAllowed') || settings.has('registrationEmailAsUsername');
  const isLocking = settings.flag('bruteForceProtected') === true;
  draft.signIn(settings, {
    signUpEnabled: settings.flag('registrationAllowed'),
    ...(isTold
      ? {
          signInIdentifiers: identifiers,
          signUpIdentifiers: identifiers.includes('USERNAME') ? ['USERNAME', 'EMAIL'] : ['EMAIL'],
        }
      : {}),
    passwordPolicy: { minLength: minLengthOf(settings) },
    lockoutPolicy: isLocking
      ? {
          maxAttempts: settings.number('failureFactor'),
          windowSeconds: settings.number('maxDeltaTimeSeconds'),
          lockSeconds: settings.number('maxFailureWaitSeconds'),
        }
      : {},
    sessionPolicy: {
      idleSeconds: settings.number('ssoSessionIdleTimeout'),
      maxSeconds: settings.number('ssoSessionMaxLifespan'),
    },
    branding: { productName: settings.text('displayName') || undefined },
    defaultLanguage: knownLanguage(settings.text('defaultLocale')),
    ...factorsOf(settings),
  });
  settings.ignore('accessTokenLifespan', 'failureFactor', 'maxDeltaTimeSeconds');
  settings.ignore('maxFailureWaitSeconds', 'displayNameHtml', 'internationalizationEnabled');
}

/** Whether everybody has to set up an authenticator app. */
function factorsOf(settings: Part) {
  const action = settings
    .list('requiredActions')
    .find((one) => one.text('alias') === 'CONFIGURE_TOTP');
  if (!action) return {};
  return action.flag('enabled') && action.flag('defaultAction')
    ? { factors: ['TOTP'], factorPolicy: 'REQUIRED' }
    : { factorPolicy: 'OPTIONAL' };
}

/** The least length of passwords. A policy is written as `length(12) and notUsername`. */
function minLengthOf(settings: Part): number | undefined {
  const policy = settings.text('passwordPolicy')?.split(' and ') ?? [];
  const length = policy.map((rule) => /^length\((\d+)\)$/.exec(rule)?.[1]).find((one) => one);
  const others = policy.filter((rule) => rule !== '' && !/^length\(|^hash/.test(rule));
  if (others.length > 0) {
    settings.leave(`passwordPolicy: ${others.join(', ')}: Signet has no such rule`);
  }
  return length === undefined ? undefined : Number(length);
}
