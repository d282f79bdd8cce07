import type { Database } from '../db/database.ts';
import type { SecretUse } from '../generated/prisma/client.ts';
import { purposeOf } from '../keys/sealed-columns.ts';
import type { Services } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';

/** How often a node says which secret it uses, while it has two, in milliseconds. */
export const sayingMs = 5_000;

/** The same, while it has one. */
export const sayingAloneMs = 60_000;

// Two and a half times the longer interval: whoever is silent for so long has stopped.
const silentMs = 150_000;

/** How long a sign-in under way, and what it sealed, can go on, in seconds. */
export const longestSignInSeconds = 3600;

/** What has become of `SIGNET_SECRET_PREVIOUS`. */
export type PreviousSecretState =
  | 'UNUSED'
  | 'IN_USE'
  | 'RE_ENCRYPTING'
  | 'RE_ENCRYPTED'
  | 'NO_LONGER_NEEDED';

type Parts = Pick<Services, 'database' | 'clock' | 'cipher'>;

/** Notes that this node uses its secret, and until when what it signs now is valid. */
export async function noteUse(services: Parts): Promise<void> {
  const { cipher } = services;
  await note(services, cipher.first.id);
  if (!cipher.previous || (await findUse(services, cipher.previous.id))) return;
  // A version that kept no notes may have used it until now.
  if (await hasEncrypted(services, cipher.previous.id)) await note(services, cipher.previous.id);
}

async function note({ database: { prisma }, clock }: Parts, id: string): Promise<void> {
  const { sessionPolicy } = await readSignInExperience(prisma);
  const lifeSeconds = Math.max(
    Math.min(sessionPolicy.idleSeconds, sessionPolicy.maxSeconds),
    longestSignInSeconds,
  );
  const now = clock.now();
  const until = new Date(now.getTime() + sayingAloneMs + lifeSeconds * 1000);
  await prisma.$executeRaw`
    INSERT INTO "SecretUse" AS u ("id", "since", "usedAt", "sealedUntil")
    VALUES (${id}, ${now}::timestamptz, ${now}::timestamptz, ${until}::timestamptz)
    ON CONFLICT ("id") DO UPDATE
       SET "since" = CASE WHEN u."usedAt" < ${before(now, silentMs)}::timestamptz
                          THEN excluded."since" ELSE u."since" END,
           "usedAt" = greatest(u."usedAt", excluded."usedAt"),
           "sealedUntil" = greatest(u."sealedUntil", excluded."sealedUntil"),
           "rewrittenAt" = NULL`;
}

const before = (now: Date, ms: number) => new Date(now.getTime() - ms);

async function hasEncrypted({ database, cipher }: Parts, id: string): Promise<boolean> {
  const keys = await database.prisma.signingKey.findMany({
    select: { id: true, privateJwk: true },
  });
  return keys.some(
    (key) => cipher.secretOf(key.privateJwk, purposeOf('signing-key', key.id))?.id === id,
  );
}

const findUse = ({ database }: { readonly database: Pick<Database, 'prisma'> }, id: string) =>
  database.prisma.secretUse.findUnique({ where: { id } });

/** How the previous secret is used, and whether this node is to encrypt anew what it encrypted. */
export async function readPrevious(
  services: Parts,
): Promise<{ readonly state: PreviousSecretState; readonly use: SecretUse | null } | undefined> {
  const { cipher, clock } = services;
  if (!cipher.previous) return undefined;
  const use = await findUse(services, cipher.previous.id);
  if (!use) return { use, state: 'UNUSED' };
  if (use.rewrittenAt)
    return { use, state: use.sealedUntil > clock.now() ? 'RE_ENCRYPTED' : 'NO_LONGER_NEEDED' };
  const own = await findUse(services, cipher.first.id);
  const isSilent = use.usedAt < before(clock.now(), silentMs);
  // In a rolling change, the nodes that have it the other way round encrypt with the later secret, too.
  const isPast = isSilent || (own !== null && own.since > use.since);
  return { use, state: isPast ? 'RE_ENCRYPTING' : 'IN_USE' };
}

/**
 * Notes that nothing in the tables needs a secret any more, unless a node has used it since.
 *
 * @param lookedAt When the look at the tables began.
 * @returns Whether it is noted.
 */
export async function noteRewritten(
  { database: { prisma }, clock }: Parts,
  { id, usedAt }: SecretUse,
  lookedAt: Date,
): Promise<boolean> {
  // Whoever used it until then may have written since, and says so within that time.
  if (usedAt >= before(lookedAt, 3 * sayingMs)) return false;
  const { count } = await prisma.secretUse.updateMany({
    where: { id, usedAt, rewrittenAt: null },
    data: { rewrittenAt: clock.now() },
  });
  return count > 0;
}
