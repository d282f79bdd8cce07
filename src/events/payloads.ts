/**
 * The JSON of events, in the GraphQL schema's field names. Instants are ISO 8601 in UTC. What is secret, a
 * password or its digest, has no field here.
 */

type Json = unknown;

interface Timestamps {
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A user as written. */
export interface UserRecord extends Timestamps {
  readonly id: string;
  readonly username: string | null;
  readonly primaryEmail: string | null;
  readonly primaryPhone: string | null;
  readonly name: string | null;
  readonly avatar: string | null;
  readonly profile: Json;
  readonly customData: Json;
  readonly isSuspended: boolean;
  readonly hasPassword: boolean;
  readonly lastSignInAt: string | null;
}

/** A role as written. */
export interface RoleRecord extends Timestamps {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  readonly isDefault: boolean;
}

/** A scope as written. */
export interface ScopeRecord extends Timestamps {
  readonly id: string;
  readonly resourceId: string;
  readonly name: string;
  readonly description: string | null;
}

/** An organization as written. */
export interface OrganizationRecord extends Timestamps {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly customData: Json;
}

/** An organization role as written. */
export interface OrganizationRoleRecord extends Timestamps {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
}

/** An organization scope as written. */
export interface OrganizationScopeRecord extends Timestamps {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

/** The fields that an update changed, each with its value before and after. */
export interface Changes {
  readonly changes: Readonly<Record<string, { readonly from: Json; readonly to: Json }>>;
}

/** A scope as an event about roles names it. */
export interface ScopeReference {
  readonly id: string;
  readonly name: string;
  readonly resourceId: string;
}

/** An organization scope as an event about organization roles names it. */
export interface OrganizationScopeReference {
  readonly id: string;
  readonly name: string;
}

/** What a role gained and lost. */
export interface RoleScopesData {
  readonly roleId: string;
  readonly addedScopes: readonly ScopeReference[];
  readonly removedScopes: readonly ScopeReference[];
}

/** What an organization role gained and lost. */
export interface OrganizationRoleScopesData {
  readonly organizationRoleId: string;
  readonly addedScopes: readonly OrganizationScopeReference[];
  readonly removedScopes: readonly OrganizationScopeReference[];
  readonly addedResourceScopes: readonly ScopeReference[];
  readonly removedResourceScopes: readonly ScopeReference[];
}

/** Who joined an organization and who left it: never cut short. */
export interface OrganizationMembershipData {
  readonly organizationId: string;
  readonly addedUserIds: readonly string[];
  readonly removedUserIds: readonly string[];
  readonly addedApplicationIds: readonly string[];
  readonly removedApplicationIds: readonly string[];
}

/** What a person did at the sign-in pages. */
export interface InteractionData {
  readonly user: UserRecord;
  readonly applicationId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly sessionId: string | null;
}

/** An identifier that is shut after too many failures. */
export interface IdentifierLockoutData {
  readonly type: 'username' | 'email' | 'phone';
  readonly value: string;
  readonly lockedUntil: string;
}

/** A recipient that asked for too many messages. */
export interface MessageRateLimitedData {
  readonly action: string;
  readonly recipient: string;
}
