import type { AccountVisit } from '../../site/visit.ts';

/** The path of the list of second factors. */
export const factorsPath = '/factors';

/** The path of the page that makes backup codes. */
export const backupCodesPath = `${factorsPath}/codes`;

/** Where a page leads that has removed a factor. */
export const factorsChanged = { goTo: `${factorsPath}?done=factors` } as const;

/** Where a page leads that has added a factor: to backup codes, if they are offered and there are none. */
export async function afterAdding({ context, settings, user }: AccountVisit) {
  if (!settings.factors.includes('BACKUP_CODES')) return factorsChanged;
  const where = { userId: user.id, type: 'BACKUP_CODES' } as const;
  const has = await context.database.prisma.userFactor.count({ where });
  return has > 0 ? factorsChanged : { goTo: `${backupCodesPath}?done=factors` };
}
