import { kindOfId } from '../ids.ts';
import type { Form } from './form.ts';
import { InvalidScope, InvalidTarget } from './oauth-errors.ts';

/** What a token is asked for: one API, or one organization itself. */
export interface Target {
  /** The indicator asked for, which becomes the token's `aud`. */
  readonly indicator: string;
  /** The organization that the token is narrowed to. */
  readonly organizationId: string | undefined;
  /** Whether the indicator is the organization's own: the scopes are then organization scopes. */
  readonly isOrganization: boolean;
}

/** How the indicator of an organization begins; its id follows. */
export const organizationIndicatorPrefix = 'urn:signet:organization:';

/** How long a token for an organization itself lives. */
export const organizationTokenTtlSeconds = 3600;

/**
 * What a request asks a token for.
 *
 * @throws {InvalidRequest} without `resource`. {@link InvalidTarget} when it is repeated.
 */
export const readTarget = (form: Form): Target =>
  targetOf(form.getResource(), form.find('organization_id'));

/** What an indicator and an `organization_id` name together. */
export function targetOf(indicator: string, organizationId: string | undefined): Target {
  return indicator.startsWith(organizationIndicatorPrefix)
    ? {
        indicator,
        organizationId: organizationId ?? indicator.slice(organizationIndicatorPrefix.length),
        isOrganization: true,
      }
    : { indicator, organizationId, isOrganization: false };
}

// RFC 3986 §4.3: a scheme, and no fragment. Which characters a path may hold is for the registry of resources.
const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s#]+$/;

/**
 * Checks what was asked for against what there is.
 *
 * @param found.ttlSeconds The lifetime of the resource's tokens; null where no such resource is registered.
 * @param found.isMember Whether the subject belongs to the organization named, if one was.
 * @returns The lifetime of a token for the target, in seconds.
 * @throws {InvalidTarget} RFC 8707 §2
 */
export function assertTarget(
  { indicator, organizationId, isOrganization }: Target,
  found: { readonly ttlSeconds: number | null; readonly isMember: boolean },
): number {
  if (indicator.includes('#')) throw new InvalidTarget('resource must have no fragment');
  if (!absoluteUri.test(indicator)) throw new InvalidTarget('resource must be an absolute URI');
  const ttlSeconds = isOrganization ? organizationTokenTtlSeconds : found.ttlSeconds;
  if (ttlSeconds === null) throw new InvalidTarget('resource is unknown');
  if (isOrganization && indicator !== `${organizationIndicatorPrefix}${organizationId}`) {
    throw new InvalidTarget('resource and organization_id name different organizations');
  }
  if (organizationId !== undefined && !found.isMember) {
    throw new InvalidTarget('the subject is not a member of the organization');
  }
  return ttlSeconds;
}

// RFC 6749 §3.3
const scopeList = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The scopes that a request names, each once, or undefined where `scope` breaks the grammar of RFC 6749 §3.3. */
export function readScopes(form: Form): string[] | undefined {
  const scope = form.find('scope');
  if (scope === undefined) return [];
  return scopeList.test(scope) ? [...new Set(scope.split(' '))] : undefined;
}

/** @throws {InvalidScope} when `scope` broke the grammar. */
export function assertScopes(scopes: string[] | undefined): asserts scopes is string[] {
  if (scopes === undefined) throw new InvalidScope();
}

/** An id as the database may be asked for it; one of another kind or none at all is null, and finds nothing. */
export const idForQuery = (
  id: unknown,
  kind: 'User' | 'Application' | 'Organization',
): string | null => (typeof id === 'string' && kindOfId(id) === kind ? id : null);

/** Text as the database may be asked for it: it has no NUL character, so what holds one is not there either. */
export const textForQuery = (text: unknown): string | null =>
  typeof text === 'string' && !text.includes('\0') ? text : null;
