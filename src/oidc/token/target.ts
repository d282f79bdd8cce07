import { areSpellings } from '../../auth/indicators.ts';
import { faultOfIndicator, faultOfNames, type Target, targetOf } from '../../permissions/target.ts';
import type { Form } from './form.ts';
import { InvalidScope, InvalidTarget } from './oauth-errors.ts';

/** The lifetime of a token for an organization itself. */
export const organizationTokenTtlSeconds = 3600;

/**
 * The target of a token request.
 *
 * @throws {InvalidRequest} without `resource`. {@link InvalidTarget} when it is repeated.
 */
export const readTarget = (form: Form): Target =>
  targetOf(form.getResource(), form.find('organization_id'));

/**
 * The target of an exchange, which may be named by `audience` (RFC 8693 §2.1). `audience` stands for a missing
 * `resource`; {@link assertAudience} checks that it names no other.
 *
 * @throws {InvalidRequest} without both. {@link InvalidTarget} when `resource` is repeated.
 */
export function readExchangeTarget(form: Form): Target {
  const audience = form.find('audience');
  return audience === undefined || form.find('resource') !== undefined
    ? readTarget(form)
    : targetOf(audience, form.find('organization_id'));
}

/** @throws {InvalidTarget} when `audience` is not the indicator of the requested resource, in any spelling. */
export function assertAudience(form: Form, { indicator }: Pick<Target, 'indicator'>): void {
  if (!areSpellings(form.find('audience') ?? indicator, indicator)) {
    throw new InvalidTarget("audience is not the resource's indicator");
  }
}

/** The target of an exchange. If it names no organization, it gets the one that the subject token is limited to. */
export const keptWithin = (target: Target, organizationId: unknown): Target =>
  target.organizationId === undefined && typeof organizationId === 'string'
    ? { ...target, organizationId }
    : target;

/**
 * The target under the registered spelling of its indicator, which goes into the token and which everything else about
 * the target is compared with. One that is not registered stays as it was asked for.
 */
export const asRegistered = (
  target: Target,
  { indicator }: { readonly indicator: string | null },
): Target => (indicator === null ? target : { ...target, indicator });

/** What the database knows about a target. */
interface FoundTarget {
  /** The lifetime of the resource's tokens; null if no such resource is registered. */
  readonly ttlSeconds: number | null;
  /** Whether the subject belongs to the named organization, if there is one. */
  readonly isMember: boolean;
}

/** The lifetime of a token for a target, in seconds; null if no such resource is registered. */
export function ttlOfTarget(
  { indicator, isOrganization }: Target,
  { ttlSeconds }: Pick<FoundTarget, 'ttlSeconds'>,
): number | null {
  if (isOrganization) return organizationTokenTtlSeconds;
  return faultOfIndicator(indicator) === undefined ? ttlSeconds : null;
}

/** Why a subject can have no token in the organization of a target; undefined if it can, or none is named. */
export function faultOfOrganization(
  target: Target,
  { isMember }: Pick<FoundTarget, 'isMember'>,
): string | undefined {
  const fault = faultOfNames(target);
  if (fault !== undefined || target.organizationId === undefined || isMember) return fault;
  return 'the subject is not a member of the organization';
}

/**
 * Checks a requested target against the database's answer.
 *
 * @returns The lifetime of a token for the target, in seconds.
 * @throws {InvalidTarget} RFC 8707 §2
 */
export function assertTarget(target: Target, found: FoundTarget): number {
  const ttlSeconds = assertResource(target, found);
  assertOrganization(target, found);
  return ttlSeconds;
}

/**
 * Checks that there is such a resource. An organization counts as one.
 *
 * @returns The lifetime of a token for it, in seconds.
 * @throws {InvalidTarget}
 */
export function assertResource(target: Target, found: Pick<FoundTarget, 'ttlSeconds'>): number {
  const fault = faultOfIndicator(target.indicator);
  if (fault !== undefined) throw new InvalidTarget(fault);
  const ttlSeconds = ttlOfTarget(target, found);
  if (ttlSeconds === null) throw new InvalidTarget('resource is unknown');
  return ttlSeconds;
}

/** @throws {InvalidTarget} when the subject can have no token in the organization of the target. */
export function assertOrganization(target: Target, found: Pick<FoundTarget, 'isMember'>): void {
  const fault = faultOfOrganization(target, found);
  if (fault) throw new InvalidTarget(fault);
}

// RFC 6749 §3.3
const scopeList = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The requested scopes, each once; undefined if `scope` breaks the grammar of RFC 6749 §3.3. */
export const readScopes = (form: Form): string[] | undefined => parseScope(form.find('scope'));

/** The scopes of a list, each once, none if it is empty; undefined if it breaks the grammar of RFC 6749 §3.3. */
export function parseScope(scope = ''): string[] | undefined {
  if (scope === '') return [];
  return scopeList.test(scope) ? [...new Set(scope.split(' '))] : undefined;
}

/** @throws {InvalidScope} when `scope` broke the grammar. */
export function assertScopes(scopes: string[] | undefined): asserts scopes is string[] {
  if (scopes === undefined) throw new InvalidScope();
}
