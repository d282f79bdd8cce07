import type { User } from '../../../../src/generated/prisma/client.ts';
import { newId } from '../../../../src/ids.ts';
import type { TestService } from '../../service.ts';

/**
 * Gives a person one of everything that the pages of the account list: an identity at a provider, an application that
 * they have allowed something, and backup codes, which are used up and so are not asked for.
 */
export async function addOneOfEach(
  { app, clock }: TestService,
  { id: userId }: Pick<User, 'id'>,
  { id: applicationId }: { readonly id: string },
): Promise<void> {
  const { prisma } = app.services.database;
  const at = clock.now();
  const issuer = 'https://club.example.com';
  const { id: identityProviderId } = await prisma.identityProvider.create({
    data: {
      id: newId('IdentityProvider'),
      name: 'Club & Sons',
      kind: 'SOCIAL',
      issuer,
      clientId: 'signet',
      scopes: ['openid'],
      createdAt: at,
      updatedAt: at,
    },
  });
  await prisma.userIdentity.create({
    data: {
      id: newId('UserIdentity'),
      userId,
      identityProviderId,
      issuer,
      subject: userId,
      email: 'ada.lovelace@club.example.com',
      linkedAt: at,
    },
  });
  await prisma.userGrant.create({
    data: {
      id: newId('UserGrant'),
      userId,
      applicationId,
      createdAt: at,
      scopes: { create: [{ resource: '', name: 'openid' }] },
    },
  });
  await prisma.userFactor.create({
    data: { id: newId('UserFactor'), userId, type: 'BACKUP_CODES', createdAt: at },
  });
}
