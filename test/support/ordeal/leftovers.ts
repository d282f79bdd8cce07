import type { PrismaClient } from '../../../src/generated/prisma/client.ts';
import type { Outcome } from './deeds.ts';
import type { Thing } from './person.ts';
import type { Lives } from './world.ts';

type Data = Readonly<Record<string, unknown>>;
type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Whether it must be there, must be gone, or may be either. */
function mayBeThere({ added, removed }: Thing): readonly boolean[] {
  if (removed === 'DONE' || added === 'REFUSED') return [false];
  return added === 'DONE' && removed !== 'UNKNOWN' ? [true] : [true, false];
}

const fits = (outcome: Outcome | undefined, isDone: boolean): boolean =>
  outcome === 'UNKNOWN' || (outcome === 'DONE') === isDone;

/**
 * Compares what is stored with the log of events, and with what people know to be done. Each fault is a line.
 *
 * @param countsMessages Whether each notice was stored: somebody can send it.
 */
export async function faultsIn(
  prisma: PrismaClient,
  { lives, strangers }: Pick<Lives, 'lives' | 'strangers'>,
  { countsMessages }: { countsMessages: boolean },
): Promise<string[]> {
  const faults: string[] = [];
  const check = (isRight: boolean, fault: string) => {
    if (!isRight) faults.push(fault);
  };
  const users = await prisma.user.findMany({
    include: {
      factors: { include: { codes: true }, orderBy: { id: 'asc' } },
      identities: { orderBy: { id: 'asc' } },
      grants: { include: { scopes: true } },
    },
  });
  const events = await prisma.event.findMany({
    where: { subjectId: { startsWith: 'user_' } },
    orderBy: { position: 'asc' },
  });
  const of = Map.groupBy(events, ({ subjectId }) => subjectId as string);
  const typesOf = (userId: string) => (of.get(userId) ?? []).map(({ type }) => type);
  const count = (userId: string, type: string) =>
    typesOf(userId).filter((one) => one === type).length;

  // Each account has its events, each event of an account its account.
  const stored = new Set(users.map(({ id }) => id));
  for (const userId of stored.union(new Set(of.keys()))) {
    const isDeleted = count(userId, 'User.Deleted');
    check(count(userId, 'User.Created') === 1, `${userId}: not created once`);
    check(isDeleted === (stored.has(userId) ? 0 : 1), `${userId}: deletion and event differ`);
  }

  for (const user of users) {
    const { id, factors, identities, grants } = user;
    // Each change goes on where the one before ended, and the last one is what is stored.
    const now: Record<string, unknown> = { factors: [], identities: [], name: null };
    const changes = (of.get(id) ?? [])
      .filter(({ type }) => type === 'User.Data.Updated')
      .map(({ data }) => (data as Data)['changes'] as Changes);
    const created = (of.get(id) ?? []).find(({ type }) => type === 'User.Created')?.data as Data;
    now['name'] = created?.['name'] ?? null;
    for (const change of changes) {
      for (const [field, { from, to }] of Object.entries(change)) {
        if (!Object.hasOwn(now, field)) continue;
        check(isSame(now[field], from), `${id}: ${field} changed from ${JSON.stringify(from)}`);
        now[field] = to;
      }
    }
    check(isSame(now['name'], user.name), `${id}: name and events differ`);
    const types = factors.map(({ type }) => type);
    check(isSame(now['factors'], types), `${id}: factors ${types} and events differ`);
    const providers = (now['identities'] as { id: string }[]).map((provider) => provider.id);
    // The first identity of an account that it made is told by `User.Created`.
    const linked = identities.slice(count(id, 'PostRegister') === 0 ? 0 : 1);
    check(
      isSame(
        providers,
        linked.map(({ identityProviderId }) => identityProviderId),
      ),
      `${id}: identities and events differ`,
    );
    for (const { type, secret, publicKey, credentialId, signCount, codes } of factors) {
      const isWhole = {
        TOTP: secret !== null,
        PASSKEY: publicKey !== null && credentialId !== null && signCount !== null,
        BACKUP_CODES: codes.length >= 9 && codes.length <= 10,
      }[type];
      check(isWhole, `${id}: half of a factor ${type}`);
    }
    const byType = Map.groupBy(types, (type) => type);
    for (const [type, those] of byType)
      check(those.length === 1, `${id}: ${those.length} factors ${type}`);
    for (const { scopes } of grants) check(scopes.length === 2, `${id}: half of a grant`);
    check(grants.length <= 1, `${id}: two grants for one application`);
    const isNobody = user.username === null && identities.length === 0;
    check(!isNobody, `${id}: an account that nobody can reach`);
    const registered = count(id, 'PostRegister');
    check(registered === (user.username === null ? 1 : 0), `${id}: ${registered} registrations`);
    if (!countsMessages) continue;
    const recipient = user.primaryEmail ?? '';
    const told = await prisma.message.groupBy({
      by: ['template'],
      where: { recipient },
      _count: true,
    });
    const notices = (template: string) =>
      told.find((one) => one.template === template)?._count ?? 0;
    const changed = (field: string) => changes.filter((change) => field in change).length;
    const links = notices('IDENTITY_ADDED') + notices('IDENTITY_REMOVED');
    check(links === changed('identities'), `${id}: ${links} notices of identities`);
    // Backup codes that replace others are told too, and change no kind of factor.
    const added = notices('FACTOR_ADDED') + notices('FACTOR_REMOVED');
    check(added >= changed('factors'), `${id}: ${added} notices of factors`);
  }

  const sessions = await prisma.session.findMany();
  const signedIn = events.flatMap(({ type, data }) =>
    type === 'PostSignIn' ? [(data as Data)['sessionId']] : [],
  );
  check(new Set(signedIn).size === signedIn.length, 'a sign-in has two events');
  const ended = new Set(
    lives.flatMap((life) =>
      [...life.sessions].filter(([, { removed }]) => removed !== undefined).map(([id]) => id),
    ),
  );
  const begun = new Set(sessions.map(({ id }) => id));
  for (const { type, data, subjectId } of events) {
    const id = (data as Data)['sessionId'] as string;
    if (type !== 'PostSignIn' || ended.has(id) || !stored.has(subjectId as string)) continue;
    check(begun.has(id), `${subjectId}: a sign-in without its session ${id}`);
  }
  for (const { id, userId } of sessions) {
    const isTold = signedIn.includes(id) || count(userId, 'PostRegister') === 1;
    check(isTold, `${id}: a session without its event`);
  }
  // Grants are stored under the digest of their id, see storedId().
  const records = await prisma.$queryRaw<{ fault: string }[]>`
    WITH "named" AS (
      SELECT 'a code or a refresh token' AS "by", "grantId" FROM "OidcRecord"
       WHERE "model" IN ('AuthorizationCode', 'RefreshToken')
      UNION ALL
      SELECT 'a session', a."value" ->> 'grantId' FROM "OidcRecord" r
        CROSS JOIN jsonb_each(coalesce(r."payload" -> 'authorizations', '{}')) a
        JOIN "Application" app ON app."id" = a."key" AND NOT app."isThirdParty"
       WHERE r."model" = 'Session')
    SELECT 'a grant is not there, named by ' || n."by" AS "fault" FROM "named" n
     WHERE n."grantId" IS NOT NULL
       AND NOT EXISTS (SELECT FROM "OidcRecord" g WHERE g."model" = 'Grant'
            AND g."id" = translate(encode(sha256(convert_to(n."grantId", 'UTF8')), 'base64'), '+/=', '-_'))
    UNION ALL
    SELECT 'a session without its record: ' || s."id" FROM "Session" s
     WHERE NOT EXISTS (SELECT FROM "OidcRecord" r WHERE r."model" = 'Session' AND r."uid" = s."id")`;
  faults.push(...records.map(({ fault }) => fault));

  // What people know to be done.
  for (const subject of strangers) {
    const times = users.filter(({ identities }) =>
      identities.some((identity) => identity.subject === subject),
    ).length;
    check(times === 1, `${subject} has ${times} accounts`);
  }
  for (const life of lives) {
    const { userId, names, factors, code, identities, grant, deleted } = life;
    const user = users.find(({ id }) => id === userId);
    check(fits(deleted ?? 'REFUSED', user === undefined), `${userId}: deletion lost`);
    if (!user) continue;
    for (const [id, thing] of life.sessions) {
      const isThere = sessions.some((session) => session.id === id);
      check(mayBeThere(thing).includes(isThere), `${userId}: ${id} is there: ${isThere}`);
    }
    const told = (of.get(userId) ?? []).map(({ data }) => (data as Data)['changes'] as Changes);
    for (const { name, outcome } of names) {
      const times = told.filter((changes) => changes?.['name']?.to === name).length;
      check(times <= 1 && fits(outcome, times === 1), `${userId}: "${name}" ${times} times`);
    }
    for (const [name, thing] of factors) {
      const isThere = user.factors.some((factor) => factor.name === name);
      check(mayBeThere(thing).includes(isThere), `${userId}: ${name} is there: ${isThere}`);
    }
    const set = user.factors.find(({ type }) => type === 'BACKUP_CODES');
    if (code) check(fits(code, set?.codes.length === 9), `${userId}: ${set?.codes.length} codes`);
    for (const [subject, thing] of identities) {
      const times = user.identities.filter((identity) => identity.subject === subject).length;
      check(times <= 1, `${userId}: ${subject} is there ${times} times`);
      check(mayBeThere(thing).includes(times === 1), `${userId}: ${subject} is there: ${times}`);
    }
    if (grant) check(mayBeThere(grant).includes(user.grants.length === 1), `${userId}: grant`);
  }
  return faults;
}
