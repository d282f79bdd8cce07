import type { Form } from './form.ts';
import { InvalidScope, InvalidTarget } from './oauth-errors.ts';

/** The target of a token: one API, or one organization itself. */
export interface Target {
  /** The requested indicator, which becomes the token's `aud`. */
  readonly indicator: string;
  /** The organization that limits the token. */
  readonly organizationId: string | undefined;
  /** Whether the indicator is the organization's own; the scopes are then organization scopes. */
  readonly isOrganization: boolean;
}

// The start of an organization's indicator; its id follows.
const organizationPrefix = 'urn:signet:organization:';

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

/** @throws {InvalidTarget} when `audience` is not the indicator of the requested resource. */
export function assertAudience(form: Form, { indicator }: Target): void {
  if ((form.find('audience') ?? indicator) !== indicator) {
    throw new InvalidTarget("audience is not the resource's indicator");
  }
}

/** The target that an indicator and an `organization_id` name together. */
export function targetOf(indicator: string, organizationId: string | undefined): Target {
  return indicator.startsWith(organizationPrefix)
    ? {
        indicator,
        organizationId: organizationId ?? indicator.slice(organizationPrefix.length),
        isOrganization: true,
      }
    : { indicator, organizationId, isOrganization: false };
}

/** What the database knows about a target. */
interface FoundTarget {
  /** The lifetime of the resource's tokens; null if no such resource is registered. */
  readonly ttlSeconds: number | null;
  /** Whether the subject belongs to the named organization, if there is one. */
  readonly isMember: boolean;
}

/** The lifetime of a token for a target, in seconds; null if no such resource is registered. */
export const ttlOfTarget = (
  { isOrganization }: Target,
  { ttlSeconds }: Pick<FoundTarget, 'ttlSeconds'>,
): number | null => (isOrganization ? organizationTokenTtlSeconds : ttlSeconds);

/** Why a subject can have no token in the organization of a target; undefined if it can, or none is named. */
export function faultOfOrganization(
  { indicator, organizationId, isOrganization }: Target,
  { isMember }: Pick<FoundTarget, 'isMember'>,
): string | undefined {
  if (isOrganization && indicator !== `${organizationPrefix}${organizationId}`) {
    return 'resource and organization_id name different organizations';
  }
  return organizationId === undefined || isMember
    ? undefined
    : 'the subject is not a member of the organization';
}

// RFC 3986 §4.3: a scheme, and no fragment. The registry of resources decides which characters a path may hold.
const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s#]+$/;

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
 * Checks that there is such a resource; an organization is one of its own.
 *
 * @returns The lifetime of a token for it, in seconds.
 * @throws {InvalidTarget}
 */
export function assertResource(target: Target, found: Pick<FoundTarget, 'ttlSeconds'>): number {
  const { indicator } = target;
  if (indicator.includes('#')) throw new InvalidTarget('resource must have no fragment');
  if (!absoluteUri.test(indicator)) throw new InvalidTarget('resource must be an absolute URI');
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
export function readScopes(form: Form): string[] | undefined {
  const scope = form.find('scope');
  return scope === undefined ? [] : parseScope(scope);
}

/** The scopes of a list, each once; undefined if it breaks the grammar of RFC 6749 §3.3. */
export const parseScope = (scope: string): string[] | undefined =>
  scopeList.test(scope) ? [...new Set(scope.split(' '))] : undefined;

/** @throws {InvalidScope} when `scope` broke the grammar. */
export function assertScopes(scopes: string[] | undefined): asserts scopes is string[] {
  if (scopes === undefined) throw new InvalidScope();
}
