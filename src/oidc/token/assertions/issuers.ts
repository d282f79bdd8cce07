import type { ClaimRule } from '../../../applications/trusted-issuers/fields.ts';
import type { SetterScopes } from '../../../auth/granting/setter-scopes.ts';
import { type Sql, textForQuery } from '../../../db/sql.ts';
import type { ApplicationType, TrustedIssuer } from '../../../generated/prisma/client.ts';

/** A trusted issuer as an assertion is judged by it. */
export interface KnownIssuer
  extends Pick<
    TrustedIssuer,
    'id' | 'issuer' | 'jwksUri' | 'kind' | 'applicationId' | 'maxLifetimeSeconds' | 'requireJti'
  > {
  readonly claimRules: readonly ClaimRule[];
  readonly setterScopes: SetterScopes;
  readonly applicationType: ApplicationType;
  readonly applicationSetterScopes: SetterScopes;
  readonly isThirdParty: boolean;
  /** The other client id of its application: the URL of a metadata document. */
  readonly metadataUrl: string | null;
  /** The user whom the subject of the assertion is linked to; null without one, or if nobody signs in that way now. */
  readonly userId: string | null;
  /** What the user has allowed the application; null: nothing. */
  readonly grantId: string | null;
  /** What whoever set up the identity provider held by which the user is linked. */
  readonly providerSetterScopes: SetterScopes | null;
}

// Those of one issuer are as many as an operator has pipelines.
const maxIssuers = 1_000;

const statement = `
  SELECT t."id", t."issuer", t."jwksUri", t."kind", t."claimRules", t."applicationId", t."maxLifetimeSeconds",
         t."requireJti", t."setterScopes", a."metadataUrl", a."isThirdParty", a."type" AS "applicationType",
         a."setterScopes" AS "applicationSetterScopes",
         CASE WHEN p."enabled" THEN i."userId" END AS "userId", g."id" AS "grantId",
         p."setterScopes" AS "providerSetterScopes"
    FROM "TrustedIssuer" t
    JOIN "Application" a ON a."id" = t."applicationId"
    LEFT JOIN "UserIdentity" i ON t."kind" = 'IDENTITY' AND i."issuer" = t."issuer" AND i."subject" = $2
    LEFT JOIN "IdentityProvider" p ON p."id" = i."identityProviderId"
    LEFT JOIN "UserGrant" g ON g."userId" = i."userId" AND g."applicationId" = t."applicationId"
   WHERE t."issuer" = $1
   ORDER BY t."id"
   LIMIT ${maxIssuers}`;

/**
 * Finds the trusted issuers that an assertion may be of.
 *
 * @param claims Not verified.
 */
export async function findIssuers(
  sql: Sql,
  { iss, sub }: { readonly iss?: unknown; readonly sub?: unknown },
): Promise<KnownIssuer[]> {
  const issuer = textForQuery(iss);
  return issuer === null
    ? []
    : sql.query<KnownIssuer>('trusted-issuers', statement, [issuer, textForQuery(sub)]);
}
