import type { User } from '../generated/prisma/client.ts';
import { inBatches } from '../graphql/batches.ts';
import { identifierDigest, identifiersOf } from '../protection/identifier.ts';

type Identified = Pick<User, 'username' | 'primaryEmail' | 'primaryPhone'>;

/** When the last lock of a person's identifiers ends, of any kind of check; null if none is locked. */
export const lockedUntil = inBatches<Identified, Date | null>(
  async ({ database, cipher, clock }, people) => {
    const digests = people.map((person) =>
      identifiersOf(person).map((identifier) => identifierDigest(cipher, identifier)),
    );
    const locks = await database.prisma.attemptCount.findMany({
      where: { identifier: { in: digests.flat() }, lockedUntil: { gt: clock.now() } },
      orderBy: { lockedUntil: 'asc' },
      select: { identifier: true, lockedUntil: true },
    });
    const ends = new Map(locks.map((lock) => [textOf(lock.identifier), lock.lockedUntil]));
    return digests.map((own) =>
      own
        .map((digest) => ends.get(textOf(digest)) ?? null)
        .reduce((last, end) => (end && (!last || end > last) ? end : last), null),
    );
  },
);

const textOf = (digest: Uint8Array): string => Buffer.from(digest).toString('base64');
