import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import type { FactorType, PrismaClient } from '../generated/prisma/client.ts';
import type { SignInExperience } from '../sign-in-experience/settings.ts';

type Client = Transaction | PrismaClient;
type FactorSettings = Pick<SignInExperience, 'factors' | 'factorPolicy'>;

/** A person's second factors under the settings. */
export interface FactorState {
  /** The kinds of factors that the person can show: enrolled, offered, and not used up. */
  readonly usable: readonly FactorType[];
  /** Whether the person must have one, by the settings or by an organization. */
  readonly isRequired: boolean;
  /** Whether the person has declined to add one. */
  readonly hasDeclined: boolean;
}

/**
 * Reads which second factors a person has and needs. If none is offered, none is asked for or required: nobody could
 * enrol one.
 */
export async function readFactorState(
  client: Client,
  { factors: offered, factorPolicy }: FactorSettings,
  userId: string,
): Promise<FactorState> {
  const nothing = { usable: [], isRequired: false, hasDeclined: false };
  if (offered.length === 0) return nothing;
  const user = await client.user.findUnique({
    where: { id: userId },
    select: {
      enrollmentSkippedAt: true,
      factors: {
        where: { type: { in: [...offered] } },
        select: { type: true, _count: { select: { codes: true } } },
      },
      organizations: {
        where: { organization: { requiresFactor: true } },
        select: { userId: true },
        take: 1,
      },
    },
  });
  if (!user) return nothing;
  const usable = user.factors.filter(
    ({ type, _count }) => type !== 'BACKUP_CODES' || _count.codes > 0,
  );
  return {
    usable: offered.filter((type) => usable.some((factor) => factor.type === type)),
    isRequired: factorPolicy === 'REQUIRED' || user.organizations.length > 0,
    hasDeclined: user.enrollmentSkippedAt !== null,
  };
}

/** @throws {NotAllowedError} when the settings do not offer this kind of factor. */
export function assertOffered({ factors }: FactorSettings, type: FactorType): void {
  if (!factors.includes(type)) throw new NotAllowedError('This kind of factor is not offered.');
}
