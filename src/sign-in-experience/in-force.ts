import { isDeepStrictEqual } from 'node:util';
import { readRightsOf } from '../auth/granting/holdings.ts';
import { covers, coversEverything } from '../auth/granting/setter-scopes.ts';
import type { Transaction } from '../db/transaction.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { readKeptSettings, type SignInExperience, withDefaults } from './settings.ts';

type Client = Transaction | PrismaClient;

/**
 * Reads the settings that are in force for a person. Whoever weakens them does so for nobody with more rights: for
 * people who hold more, the stricter of the settings and of what a caller with `all` left is in force. As many
 * statements run if there is no such person.
 */
export async function readSettingsInForce(
  client: Client,
  userId: string | null | undefined,
): Promise<SignInExperience> {
  const { stored, vouched, weakenerScopes } = await readKeptSettings(client);
  const settings = withDefaults(stored);
  if (coversEverything(weakenerScopes)) return settings;
  if (covers(weakenerScopes, await readRightsOf(client, [userId ?? '']))) return settings;
  return stricter(settings, withDefaults(vouched));
}

/** Reads the settings that are in force for people who may do everything. */
export async function readSettingsForAll(client: Client): Promise<SignInExperience> {
  const { stored, vouched } = await readKeptSettings(client);
  return stricter(withDefaults(stored), withDefaults(vouched));
}

/**
 * Whether settings are weaker than others in anything: there is another way to sign in, a second factor is asked for
 * less often, more guesses or easier passwords are allowed, or sessions last longer.
 */
export const isWeaker = (settings: SignInExperience, others: SignInExperience): boolean =>
  !isDeepStrictEqual(stricter(settings, others), settings);

/** Settings with all that others are stricter in. */
function stricter(settings: SignInExperience, others: SignInExperience): SignInExperience {
  const [passwords, otherPasswords] = [settings.passwordPolicy, others.passwordPolicy];
  const [codes, otherCodes] = [settings.codePolicy, others.codePolicy];
  const [locks, otherLocks] = [settings.lockoutPolicy, others.lockoutPolicy];
  const [sessions, otherSessions] = [settings.sessionPolicy, others.sessionPolicy];
  return {
    ...settings,
    passwordEnabled: settings.passwordEnabled && others.passwordEnabled,
    codeEnabled: settings.codeEnabled && others.codeEnabled,
    signInIdentifiers: settings.signInIdentifiers.filter((type) =>
      others.signInIdentifiers.includes(type),
    ),
    passwordPolicy: {
      minLength: Math.max(passwords.minLength, otherPasswords.minLength),
      rejectCommon: passwords.rejectCommon || otherPasswords.rejectCommon,
      rejectUserData: passwords.rejectUserData || otherPasswords.rejectUserData,
      blocklist: union(passwords.blocklist, otherPasswords.blocklist),
    },
    codePolicy: {
      ttlSeconds: Math.min(codes.ttlSeconds, otherCodes.ttlSeconds),
      maxAttempts: Math.min(codes.maxAttempts, otherCodes.maxAttempts),
      sendLimit: Math.min(codes.sendLimit, otherCodes.sendLimit),
      sendWindowSeconds: Math.max(codes.sendWindowSeconds, otherCodes.sendWindowSeconds),
    },
    lockoutPolicy: {
      maxAttempts: Math.min(locks.maxAttempts, otherLocks.maxAttempts),
      windowSeconds: Math.max(locks.windowSeconds, otherLocks.windowSeconds),
      lockSeconds: Math.max(locks.lockSeconds, otherLocks.lockSeconds),
    },
    factors: union(settings.factors, others.factors),
    factorPolicy: others.factorPolicy === 'REQUIRED' ? 'REQUIRED' : settings.factorPolicy,
    sessionPolicy: {
      idleSeconds: Math.min(sessions.idleSeconds, otherSessions.idleSeconds),
      maxSeconds: Math.min(sessions.maxSeconds, otherSessions.maxSeconds),
    },
  };
}

const union = <Value>(some: readonly Value[], others: readonly Value[]): Value[] => [
  ...new Set([...some, ...others]),
];
