import { type Told, untold } from '../../db/told.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type VerificationMethod, VerificationRequiredError } from '../../errors.ts';
import { readFactorState } from '../../factors/policy.ts';
import type { User } from '../../generated/prisma/client.ts';
import { canSend } from '../../messages/queue-message.ts';
import type { ViewerContext } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import { changeViewer, readViewer } from './viewer.ts';

/** How long a proof counts, in seconds. */
export const proofTtlSeconds = 600;

/**
 * Remembers that the person has proved to be who they are, for the session of the token alone.
 *
 * @returns Until when it counts.
 */
export async function rememberProof(
  tx: Transaction,
  { clock, viewer: { session, userId } }: ViewerContext,
): Promise<Told<Date>> {
  const provedAt = clock.now();
  await tx.viewerProof.upsert({
    where: { session },
    create: { session, userId, provedAt },
    update: { userId, provedAt },
  });
  return untold(new Date(provedAt.getTime() + proofTtlSeconds * 1000));
}

/** Until when the last proof in this session counts; null without one that still does. */
export async function readProof(
  client: Pick<Transaction, 'viewerProof'>,
  { clock, viewer: { session, userId } }: ViewerContext,
): Promise<Date | null> {
  const proof = await client.viewerProof.findUnique({ where: { session } });
  if (proof?.userId !== userId) return null;
  const until = new Date(proof.provedAt.getTime() + proofTtlSeconds * 1000);
  return until > clock.now() ? until : null;
}

/** Until when a proof counts that was just given in this session. */
export const readProvedUntil = async (context: ViewerContext): Promise<Date> =>
  (await readProof(context.database.prisma, context)) ?? context.clock.now();

/**
 * Checks that the person has proved in this session, within the last ten minutes, to be who they are. The sign-in does
 * not count, because a token may be stolen.
 *
 * @throws {VerificationRequiredError} with the ways to do so.
 */
export async function assertProved(context: ViewerContext): Promise<void> {
  if ((await readProof(context.database.prisma, context)) === null)
    throw await verificationRequired(context);
}

/**
 * Changes the person's account after a proof. See {@link assertProved} and {@link changeViewer}.
 *
 * @throws {VerificationRequiredError} and UNAUTHENTICATED; nothing was done.
 */
export async function changeProved<T>(
  context: ViewerContext,
  work: (tx: Transaction, before: User) => Promise<Told<T>>,
): Promise<T> {
  const done = await changeViewer(context, async (tx, before) => {
    if ((await readProof(tx, context)) === null) return untold(null);
    const told = await work(tx, before);
    return told.with({ result: told.result });
  });
  if (done) return done.result;
  throw await verificationRequired(context);
}

async function verificationRequired(context: ViewerContext): Promise<VerificationRequiredError> {
  const methods = await verificationMethodsOf(context);
  if (methods.length > 0) return new VerificationRequiredError(methods);
  const providers = await listProvingProviders(context);
  return new VerificationRequiredError(providers.length > 0 ? ['IDENTITY_PROVIDER'] : []);
}

/** An identity provider at which a person can prove to be who they are. */
export interface ProvingProvider {
  readonly id: string;
  readonly name: string;
}

/**
 * The identity providers at which the person can prove to be who they are: those of their identities, if there is no
 * other way. A browser may still be signed in there, so any other way proves more.
 */
export async function listProvingProviders(context: ViewerContext): Promise<ProvingProvider[]> {
  if ((await verificationMethodsOf(context)).length > 0) return [];
  return context.database.prisma.identityProvider.findMany({
    where: { enabled: true, identities: { some: { userId: context.viewer.userId } } },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    select: { id: true, name: true },
    take: 50,
  });
}

/** A way of proof without an identity provider. */
export type DirectMethod = Exclude<VerificationMethod, 'IDENTITY_PROVIDER'>;

/** The ways in which the person can prove to be who they are, without an identity provider. */
export async function verificationMethodsOf(context: ViewerContext): Promise<DirectMethod[]> {
  const user = await readViewer(context);
  const { prisma } = context.database;
  const settings = await readSettingsInForce(prisma, user.id);
  const { usable } = await readFactorState(prisma, settings, user.id);
  const ways: readonly [DirectMethod, boolean][] = [
    ['PASSWORD', settings.passwordEnabled && user.passwordDigest !== null],
    ['EMAIL_CODE', user.primaryEmail !== null && (await canSend(context, 'EMAIL'))],
    ['PHONE_CODE', user.primaryPhone !== null && (await canSend(context, 'SMS'))],
    ['TOTP', usable.includes('TOTP')],
    ['PASSKEY', usable.includes('PASSKEY')],
    ['BACKUP_CODE', usable.includes('BACKUP_CODES')],
  ];
  return ways.filter(([, isPossible]) => isPossible).map(([method]) => method);
}
