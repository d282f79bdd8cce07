import type { RecordData } from '../../events/catalogue/records.ts';
import type { RecordKind } from '../../events/record.ts';
import type { Prisma, TrustedIssuer } from '../../generated/prisma/client.ts';
import type { ClaimRule } from './fields.ts';

/** The rules of a trusted issuer. Only the operations write them, and they have checked them. */
export const rulesOf = ({ claimRules }: Pick<TrustedIssuer, 'claimRules'>): ClaimRule[] =>
  claimRules as unknown as ClaimRule[];

/** A trusted issuer as events show it. */
export const trustedIssuerRecord = (issuer: TrustedIssuer): RecordData<'TrustedIssuer'> => ({
  id: issuer.id,
  name: issuer.name,
  issuer: issuer.issuer,
  jwksUri: issuer.jwksUri,
  kind: issuer.kind,
  claimRules: rulesOf(issuer),
  applicationId: issuer.applicationId,
  maxLifetimeSeconds: issuer.maxLifetimeSeconds,
  requireJti: issuer.requireJti,
  createdAt: issuer.createdAt.toISOString(),
  updatedAt: issuer.updatedAt.toISOString(),
});

/** Trusted issuers, whose updates are events. */
export const trustedIssuers: RecordKind<'TrustedIssuer.Data.Updated', TrustedIssuer> = {
  updated: 'TrustedIssuer.Data.Updated',
  shown: trustedIssuerRecord,
  write: (tx, id, { claimRules, ...data }) =>
    tx.trustedIssuer.update({
      where: { id },
      data: {
        ...data,
        ...(claimRules === undefined ? {} : { claimRules: claimRules as Prisma.InputJsonArray }),
      },
    }),
};
