import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { environment } from '../../src/config.ts';
import { consoleApp } from '../../src/console/app.ts';
import { setupTokenTtlSeconds } from '../../src/console/setup-token.ts';
import { sessionMaxSeconds } from '../../src/oidc/first-party/session.ts';
import { deviceCodeTtlSeconds } from '../../src/oidc/provider/device/grant.ts';
import { interactionTtlSeconds } from '../../src/oidc/provider/storage/grant-lifetime.ts';
import { addressLimits } from '../../src/protection/addresses.ts';
import { maxAgeSeconds } from '../../src/protection/cookie.ts';
import { maxPeople } from '../../src/protection/device.ts';
import { addressShares, recipientsOfPerson } from '../../src/protection/sending.ts';
import { schema } from '../../src/schema.ts';
import { defaultSignInExperience } from '../../src/sign-in-experience/settings.ts';
import {
  defaultLifetimeSeconds,
  maxLifetimeSeconds,
} from '../../src/users/one-time-tokens/one-time-token.ts';
import { maxPasswordLength } from '../../src/users/password-policy.ts';
import { code, table } from './markdown.ts';
import { number, time } from './quantities.ts';

const defaults = environment.parse({});
const { passwordPolicy, codePolicy, lockoutPolicy, sessionPolicy } = defaultSignInExperience;

/** Every setting of how people sign up and sign in, with its default. */
export const signInSettings = (): string =>
  table(
    ['field', 'default', 'meaning'],
    settingRows(schema.getType('SignInExperience') as GraphQLObjectType, defaultSignInExperience),
  );

function settingRows(type: GraphQLObjectType, defaults: object, group = ''): string[][] {
  return Object.values(type.getFields()).flatMap(({ name, type: wrapped, description }) => {
    const inner = getNamedType(wrapped);
    const value = (defaults as Record<string, unknown>)[name];
    return isObjectType(inner)
      ? settingRows(inner, value as object, `${name}.`)
      : [[code(`${group}${name}`), shown(name, value), description ?? '']];
  });
}

function shown(name: string, value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return code(`[${value.join(', ')}]`);
  const text = code(String(value));
  return name.endsWith('Seconds') ? `${text} (${time(Number(value))})` : text;
}

const every = ({ most, windowSeconds }: { most: number; windowSeconds: number }) =>
  `${number(most)} in ${time(windowSeconds)}`;

/** The counters against guessing and floods. Those that a setting changes have a star. */
export const protectionRows = (): string[][] => [
  [
    'failures in a row for one identifier and one kind of check *',
    every({ most: lockoutPolicy.maxAttempts, windowSeconds: lockoutPolicy.windowSeconds }),
    `\`LOCKED\` for ${time(lockoutPolicy.lockSeconds)}`,
  ],
  [
    'tries of the codes that one sign-in sends to one address for one purpose *',
    number(codePolicy.maxAttempts),
    '`VERIFICATION_FAILED`',
  ],
  [
    'messages of one kind to one recipient *',
    every({ most: codePolicy.sendLimit, windowSeconds: codePolicy.sendWindowSeconds }),
    '`RATE_LIMITED`',
  ],
  [
    'codes that one person has sent to new addresses *',
    every({
      most: codePolicy.sendLimit * recipientsOfPerson,
      windowSeconds: codePolicy.sendWindowSeconds,
    }),
    '`RATE_LIMITED`',
  ],
  ...(['EMAIL', 'SMS'] as const).flatMap((channel) => {
    const { windowSeconds, [channel]: most } = addressShares;
    const what = channel === 'EMAIL' ? 'codes by e-mail' : 'codes by SMS';
    return [
      [
        `${what} that one client address has sent, to whatever recipients`,
        every({ most, windowSeconds }),
        '`RATE_LIMITED`',
      ],
      [
        `${what} that the whole service sends: ${code(`${channel}_CODES_PER_MINUTE`)}`,
        every({ most: defaults[`${channel}_CODES_PER_MINUTE`] * 10, windowSeconds }),
        '`RATE_LIMITED`',
      ],
    ];
  }),
  [
    'requests of one client address to sign-in, codes, recovery and registration',
    every(addressLimits.request),
    '429 with `Retry-After`',
  ],
  [
    'failures of one client address, at these routes and the token routes',
    every(addressLimits.failure),
    '429 with `Retry-After`',
  ],
  [
    'metadata documents of applications that are read for one client address',
    every(addressLimits.document),
    '400 and a page; 401 at the token endpoint',
  ],
  [
    'applications that one client address registers',
    every(addressLimits.registration),
    '429 with `Retry-After`',
  ],
  [
    'characters of a password *',
    `${passwordPolicy.minLength} to ${maxPasswordLength}`,
    '`PASSWORD_REJECTED`',
  ],
  [
    'people for whom a browser is known',
    number(maxPeople),
    'the browser is no longer known for the earliest of them',
  ],
];

/** The lifetimes of a sign-in's codes, tokens and sessions. */
export const sessionRows = (): string[][] => [
  ['a code *', time(codePolicy.ttlSeconds)],
  [
    'a one-time token by default; at most',
    `${time(defaultLifetimeSeconds)}; ${time(maxLifetimeSeconds)}`,
  ],
  ['a running sign-in', time(interactionTtlSeconds)],
  ['the codes of a device', time(deviceCodeTtlSeconds)],
  ['an idle session *', time(sessionPolicy.idleSeconds)],
  ['a session *', time(sessionPolicy.maxSeconds)],
  ['the memory of a known browser', time(maxAgeSeconds)],
  ['an idle session of the console', time(consoleApp.idleSeconds)],
  ['a session of the console or of the account pages', time(sessionMaxSeconds)],
  ['a link that makes the first administrator', time(setupTokenTtlSeconds)],
];

/** The figures of the protection. */
export const protectionTable = (): string =>
  table(['what', 'how much', 'beyond it'], protectionRows());
