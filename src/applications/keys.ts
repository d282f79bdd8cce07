import { z } from 'zod';
import { type InputIssue, InvalidInputError } from '../errors.ts';
import type { Application } from '../generated/prisma/client.ts';
import { fault, jsonObject } from '../input.ts';
import { faultOfKey } from '../keys/public-keys.ts';
import { faultsOfTarget, targetUrl } from '../outbound/target.ts';
import type { Services } from '../services.ts';
import { isConfidential } from './secret.ts';

/** The most keys that an application has. */
export const maxKeys = 10;

// RFC 7517 §4, RFC 7518 §6: certificates and whatever else a set may hold are of no use here.
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use', 'key_ops'];

const jwks = jsonObject.transform((set, context) => {
  const keys: unknown = set['keys'];
  const refuse = (
    path: (string | number)[],
    code: 'INVALID_VALUE' | 'TOO_LONG',
    message: string,
  ) => {
    context.addIssue({ code: 'custom', path, ...fault(code, message) });
    return z.NEVER;
  };
  if (!Array.isArray(keys) || keys.length === 0)
    return refuse(['keys'], 'INVALID_VALUE', 'must be a list of JSON Web Keys');
  if (keys.length > maxKeys)
    return refuse(['keys'], 'TOO_LONG', `must have at most ${maxKeys} entries`);
  for (const [index, key] of keys.entries()) {
    const message = faultOfKey(key);
    if (message !== undefined) refuse(['keys', index], 'INVALID_VALUE', message);
  }
  const ids = keys.flatMap((key) => key?.kid ?? []);
  if (new Set(ids).size < ids.length)
    refuse(['keys'], 'INVALID_VALUE', 'must each have its own kid');
  const shown = (key: object) =>
    Object.fromEntries(Object.entries(key).filter(([member]) => publicMembers.includes(member)));
  return { keys: keys.map((key) => shown(Object(key))) };
});

/** The fields of an application's input about its keys. */
export const keySettings = {
  jwks: jwks.nullish(),
  jwksUri: targetUrl.nullish(),
  allowSecrets: z.boolean().nullish(),
};

/** What an application authenticates by. */
type Keys = Partial<Pick<Application, 'jwks' | 'jwksUri' | 'allowSecrets'>>;

/** Whether an application has keys. */
export const hasKeys = ({ jwks, jwksUri }: Pick<Keys, 'jwks' | 'jwksUri'>): boolean =>
  jwks != null || jwksUri != null;

/** The faults of an application's keys, once a change is applied. */
export function faultsOfKeys(application: Keys & Pick<Application, 'type'>): InputIssue[] {
  const { type, jwks, jwksUri, allowSecrets } = application;
  const field = jwks == null ? 'jwksUri' : 'jwks';
  const issue = (path: string, message: string): InputIssue => ({ path: [path], message });
  return [
    ...(hasKeys(application) && !isConfidential(type)
      ? [issue(field, `must be absent: applications of type ${type} do not authenticate`)]
      : []),
    ...(jwks != null && jwksUri != null
      ? [issue('jwksUri', 'must not stand beside jwks: one of them must be null')]
      : []),
    ...(allowSecrets === false && !hasKeys(application)
      ? [issue('allowSecrets', 'can be false only for an application with keys')]
      : []),
  ];
}

/**
 * Checks the address of keys.
 *
 * @throws {InvalidInputError} on `jwksUri`, unless it is an https URL with a public address.
 */
export async function assertKeysAddress(
  { config, resolveHost }: Pick<Services, 'config' | 'resolveHost'>,
  jwksUri: string | null | undefined,
): Promise<void> {
  const guard = { allowPrivate: config.allowPrivateWebhooks, resolveHost };
  const faults = await faultsOfTarget(jwksUri, ['jwksUri'], guard);
  if (faults.length > 0) throw new InvalidInputError(faults);
}
