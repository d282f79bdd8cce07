import { isVoidIndicator, organizationPrefix } from '../auth/scopes.ts';
import type { TargetKind } from './held.ts';

/** The target of a token: one API, or one organization itself. */
export interface Target {
  /** The requested indicator; once the resource is found, its registered spelling, the token's `aud`. */
  readonly indicator: string;
  /** The organization that limits the token. */
  readonly organizationId: string | undefined;
  /** Whether the indicator is the organization's own; the scopes are then organization scopes. */
  readonly isOrganization: boolean;
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

/** What the scopes of a target are of. */
export const kindOfTarget = ({ isOrganization }: Pick<Target, 'isOrganization'>): TargetKind =>
  isOrganization ? 'organization' : 'resource';

// RFC 3986 §4.3: a scheme, and no fragment. The registry of resources decides which characters a path may hold.
const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s#]+$/;

/** Why no token is issued for an indicator, whatever is registered; undefined if one may be. */
export function faultOfIndicator(indicator: string): string | undefined {
  if (indicator.includes('#')) return 'resource must have no fragment';
  if (!absoluteUri.test(indicator)) return 'resource must be an absolute URI';
  // The database may hold a resource from before such indicators were refused.
  return isVoidIndicator(indicator) ? 'resource is unknown' : undefined;
}

/** Why the indicator of a target and its organization do not fit each other; undefined if they do. */
export const faultOfNames = ({
  indicator,
  organizationId,
  isOrganization,
}: Target): string | undefined =>
  isOrganization && indicator !== `${organizationPrefix}${organizationId}`
    ? 'resource and organization_id name different organizations'
    : undefined;
