import { canSend } from '../../messages/queue-message.ts';
import { findViewerSession } from '../operations/sessions.ts';
import { backupCodesPath, factorsPath } from '../pages/factors/paths.ts';
import type { AccountVisit } from './visit.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** For how long a device was not used that the person may have forgotten. */
const forgottenAfterMs = 7 * dayMs;

/** Something that would make the account safer, and where it is done. */
export interface Advice {
  readonly text: string;
  readonly url: string;
}

/**
 * Finds what is missing for a safe account: a second factor, backup codes, a verified address, and an end to sessions
 * that nobody uses. Names only what the settings and the service make possible.
 */
export async function checkUp(visit: AccountVisit): Promise<readonly Advice[]> {
  const { texts, base, user, settings, context } = visit;
  const { checkUp: t } = texts;
  const { prisma } = context.database;
  const where = { userId: user.id };
  const now = context.clock.now();
  const [factors, codes, current, canMail, canText] = await Promise.all([
    prisma.userFactor.findMany({ where, select: { type: true } }),
    prisma.backupCode.count({ where: { factor: where } }),
    findViewerSession(context),
    canSend(context, 'EMAIL'),
    canSend(context, 'SMS'),
  ]);
  const forgotten = await prisma.session.count({
    where: {
      ...where,
      ...(current === undefined ? {} : { id: { not: current } }),
      expiresAt: { gt: now },
      lastActiveAt: { lt: new Date(now.getTime() - forgottenAfterMs) },
    },
  });
  const offered = settings.factors.filter((type) => type !== 'BACKUP_CODES');
  const hasFactor = factors.some(({ type }) => type !== 'BACKUP_CODES');
  const hasAddress = user.primaryEmail !== null || user.primaryPhone !== null;
  const advice: readonly (Advice | false)[] = [
    offered.length > 0 && !hasFactor && { text: t.factor, url: factorsPath },
    settings.factors.includes('BACKUP_CODES') &&
      hasFactor &&
      codes === 0 && { text: t.backupCodes, url: backupCodesPath },
    canMail && !hasAddress && { text: t.noAddress, url: '/email' },
    canMail &&
      user.primaryEmail !== null &&
      !user.isEmailVerified && { text: t.unverifiedEmail, url: '/email' },
    canText &&
      user.primaryPhone !== null &&
      !user.isPhoneVerified && { text: t.unverifiedPhone, url: '/phone' },
    forgotten > 0 && { text: t.sessions(forgotten), url: '/sessions' },
  ];
  return advice.flatMap((one) => (one ? [{ ...one, url: `${base}${one.url}` }] : []));
}
