import type { RecordData } from '../events/catalogue/records.ts';
import type { NewEvent, RecordKind } from '../events/record.ts';
import { type Application, Prisma } from '../generated/prisma/client.ts';

/** An application as events show it. */
export const applicationRecord = (application: Application): RecordData<'Application'> => ({
  id: application.id,
  origin: application.origin,
  metadataUrl: application.metadataUrl,
  name: application.name,
  description: application.description,
  type: application.type,
  allowTokenExchange: application.allowTokenExchange,
  exchangeSubjectAudiences: application.exchangeSubjectAudiences,
  exchangeResources: application.exchangeResources,
  exchangeThirdPartySubjectTokens: application.exchangeThirdPartySubjectTokens,
  redirectUris: application.redirectUris,
  postLogoutRedirectUris: application.postLogoutRedirectUris,
  corsAllowedOrigins: application.corsAllowedOrigins,
  allowHeadlessSignIn: application.allowHeadlessSignIn,
  allowDeviceGrant: application.allowDeviceGrant,
  isThirdParty: application.isThirdParty,
  idTokenSigningAlg: application.idTokenSigningAlg,
  allowImpersonation: application.allowImpersonation,
  allowPersonalAccessTokens: application.allowPersonalAccessTokens,
  jwks: application.jwks,
  jwksUri: application.jwksUri,
  allowSecrets: application.allowSecrets,
  requireDpop: application.requireDpop,
  mayRebindTokens: application.mayRebindTokens,
  mayActFor: application.mayActFor,
  requirePushedAuthorizationRequests: application.requirePushedAuthorizationRequests,
  requirePkce: application.requirePkce,
  securityProfile: application.securityProfile,
  refreshTokenReuseSeconds: application.refreshTokenReuseSeconds,
  createdAt: application.createdAt.toISOString(),
  updatedAt: application.updatedAt.toISOString(),
});

/** Applications, whose updates are events. */
export const applications: RecordKind<'Application.Data.Updated', Application> = {
  updated: 'Application.Data.Updated',
  shown: applicationRecord,
  write: (tx, id, { jwks, ...data }) =>
    tx.application.update({
      where: { id },
      data: { ...data, ...(jwks === undefined ? {} : { jwks: jwks ?? Prisma.DbNull }) },
    }),
};

type Secrets = readonly { readonly id: string }[];

/** The event of secrets that an application gained or lost. */
export const secretsChange = (
  applicationId: string,
  { added = [], removed = [] }: { readonly added?: Secrets; readonly removed?: Secrets },
): NewEvent => ({
  type: 'Application.Secrets.Updated',
  data: {
    applicationId,
    addedSecretIds: added.map(({ id }) => id),
    removedSecretIds: removed.map(({ id }) => id),
  },
});
