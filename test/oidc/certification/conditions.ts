import { createHash } from 'node:crypto';
import { importJWK, type JSONWebKeySet } from 'jose';
import type { IDToken, UserInfoResponse } from 'openid-client';
import { expect } from 'vitest';

// What the conformance suite checks in the answers of every module, beside what openid-client checks itself: issuer,
// audience, lifetime, nonce, signature.

const fiftyYears = 50 * 365 * 24 * 60 * 60;
const skewSeconds = 5 * 60;

const isText = (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' && value.toLowerCase() !== 'null';
const isBirthdate = (value: unknown) =>
  typeof value === 'string' && /^(\d{4}-\d{2}-\d{2}|\d{4})$/.test(value);
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isNumber = (value: unknown) => typeof value === 'number';

const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...Object.fromEntries(
    [
      'sub name given_name family_name middle_name nickname preferred_username profile picture',
      'website email gender zoneinfo locale phone_number',
    ]
      .join(' ')
      .split(' ')
      .map((claim) => [claim, isText]),
  ),
  birthdate: isBirthdate,
  email_verified: isBoolean,
  phone_number_verified: isBoolean,
  updated_at: isNumber,
};

/** The claims that a scope stands for (OpenID Connect Core §5.4). */
export const claimsOfScopes: Readonly<Record<string, readonly string[]>> = {
  openid: ['sub'],
  profile: [
    ...['name', 'given_name', 'family_name', 'middle_name', 'nickname', 'profile', 'picture'],
    ...['website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'updated_at', 'preferred_username'],
  ],
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
  offline_access: [],
};

/** Each standard claim has the type that OpenID Connect Core §5.1 gives it. */
export function expectStandardClaims(claims: UserInfoResponse | IDToken): void {
  const wrong = Object.entries(claims).filter(([name, value]) => kinds[name]?.(value) === false);
  expect(wrong).toEqual([]);
  const { updated_at: updatedAt } = claims as { updated_at?: number };
  // Seconds, not milliseconds.
  if (updatedAt !== undefined) expect(updatedAt).toBeLessThan(Date.now() / 1000 + fiftyYears);
}

/** An ID token is sound in every circumstance. */
export function expectSoundIdToken(claims: IDToken): void {
  const now = Date.now() / 1000;
  expect(claims.sub).toMatch(/^[\x20-\x7e]{1,255}$/);
  expect(claims.exp).toBeLessThan(now + fiftyYears);
  expect(Math.abs(claims.iat - now)).toBeLessThan(skewSeconds);
  const { auth_time: authTime, acr } = claims;
  if (authTime !== undefined) {
    expect(authTime).toBeLessThan(now + skewSeconds);
    expect(authTime).toBeGreaterThan(now - 365 * 24 * 60 * 60);
  }
  expect(acr).not.toBe('');
  expectStandardClaims(claims);
}

/** An answer to an authorization request is an error (OpenID Connect Core §3.1.2.6), and one of these. */
export function expectErrorResponse(
  url: URL,
  { issuer, state, errors }: { issuer: string; state: string | null; errors: readonly string[] },
): void {
  const answer = Object.fromEntries(url.searchParams);
  expect(answer['state']).toBe(state ?? undefined);
  expect(answer['iss'] ?? issuer).toBe(issuer);
  expect(errors).toContain(answer['error']);
  expect(answer).not.toHaveProperty('code');
  const expected = ['error', 'error_description', 'error_uri', 'state', 'session_state', 'iss'];
  expect(Object.keys(answer).filter((name) => !expected.includes(name))).toEqual([]);
  expectDescription(answer['error_description']);
}

/** A description of an error has the characters of RFC 6749 §5.2. */
export function expectDescription(description: unknown): void {
  if (description !== undefined) expect(description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/);
}

/** The Shannon entropy of a text, in bits. The suite asks for 96 of a random value with 128 bits. */
export function entropyOf(text: string): number {
  const counts = Map.groupBy(text, (character) => character).values();
  return counts.reduce((sum, { length }) => sum - length * Math.log2(length / text.length), 0);
}

/** The published keys are public, each has a name of its own, and can be read. */
export async function expectPublicKeys(url: string): Promise<void> {
  const { keys } = (await (await fetch(url)).json()) as JSONWebKeySet;
  const names = keys.map(({ kid }) => kid);
  expect(names).not.toContain(undefined);
  expect(new Set(names).size).toBe(keys.length);
  for (const key of keys) {
    expect(Object.keys(key).filter((part) => /^(d|p|q|dp|dq|qi|oth|k)$/.test(part))).toEqual([]);
    await importJWK(key);
  }
}

/** A hash of a code or of an access token in an ID token that is signed with a SHA-256 algorithm (§3.3.2.11). */
export const hashOf = (value: string): string =>
  createHash('sha256').update(value).digest().subarray(0, 16).toString('base64url');
