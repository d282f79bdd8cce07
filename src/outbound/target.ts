import type { InputIssue } from '../errors.ts';
import { text } from '../input.ts';
import { AddressRefused, hostOf, resolvePublic } from './address.ts';
import type { ResolveHost } from './dns.ts';

// A resolver that does not answer must not hold up the form; each connection checks the address again.
const resolveTimeoutMs = 2000;

/** A URL that an administrator sets to be posted to. */
export const targetUrl = text(2048)
  // The parser drops some characters that do not belong in a URL, and would read another URL than was meant.
  .refine(
    (value) => URL.canParse(value) && /^[a-z]+:\/\/[^\s\p{Cc}]*$/iu.test(value),
    'must be an absolute URL',
  )
  .refine(
    (value) => !URL.canParse(value) || /^https?:$/.test(new URL(value).protocol),
    'must be an https URL',
  )
  .refine((value) => {
    if (!URL.canParse(value)) return true;
    const { username, password } = new URL(value);
    return username === '' && password === '';
  }, 'must not hold credentials: give them as a header');

/** A URL without what may be secret in it: user info, query and fragment. */
export function withoutSecrets(url: string): string {
  const shown = new URL(url);
  for (const part of ['username', 'password', 'search', 'hash'] as const) shown[part] = '';
  return shown.href;
}

/**
 * The faults of a target URL: it needs https and a public address.
 *
 * @param path The path of the field.
 * @param options.allowPrivate Whether http and private addresses are allowed.
 */
export async function faultsOfTarget(
  given: string | null | undefined,
  path: readonly string[],
  { allowPrivate, resolveHost }: { allowPrivate: boolean; resolveHost: ResolveHost },
): Promise<InputIssue[]> {
  if (given == null || !URL.canParse(given) || allowPrivate) return [];
  const target = new URL(given);
  if (target.protocol === 'http:') return [{ path, message: 'must be an https URL' }];
  return faultsOfHost(hostOf(target), path, { allowPrivate, resolveHost });
}

/**
 * The faults of a host that an administrator sets to be connected to: it needs a public address.
 *
 * @param path The path of the field.
 * @param options.allowPrivate Whether private addresses are allowed.
 */
export async function faultsOfHost(
  host: string,
  path: readonly string[],
  { allowPrivate, resolveHost }: { allowPrivate: boolean; resolveHost: ResolveHost },
): Promise<InputIssue[]> {
  if (allowPrivate) return [];
  const timeout = AbortSignal.timeout(resolveTimeoutMs);
  try {
    await Promise.race([
      resolvePublic(resolveHost, host),
      new Promise((resolve) => timeout.addEventListener('abort', resolve, { once: true })),
    ]);
    return [];
  } catch (error) {
    // A name that does not resolve yet may resolve when there is something to deliver.
    if (!(error instanceof AddressRefused)) return [];
    return [{ path, message: 'must lead to a public address' }];
  }
}
