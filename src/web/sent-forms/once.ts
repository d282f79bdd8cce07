import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { runPrepared } from '../../db/sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';

type Known = Pick<Services, 'database' | 'cipher' | 'clock'>;

/** What somebody has sent, which may be the second time. */
export interface Sent {
  /** Names the session that it belongs to. */
  readonly subject: string;
  /** What it was sent to. */
  readonly target: string;
  /** What it held, in one order. */
  readonly values: unknown;
}

/** What is kept of an answer. It stands in the database as it is here. */
export interface Kept {
  readonly answer: Prisma.InputJsonObject;
  /** How long it stands; with 0 it answers those alone who wait for it, with null nobody. */
  readonly standsSeconds: number | null;
}

/** How answers are kept. */
export interface Keeping<Answer> {
  /** @returns Undefined if the answer changes nothing: those before it stand on. */
  readonly kept: (answer: Answer) => Kept | undefined;
  readonly read: (kept: Prisma.JsonValue) => Answer;
}

// What takes longer was lost with its node.
const longestMs = 30_000;
// Many may wait for one answer, and each looks by itself.
const firstLookMs = 50;
const longestLookMs = 1_000;

/**
 * Does what was sent once: whoever sends the same in the same session gets the first answer, for as long as it stands
 * and is the last one there. Whoever comes while the first is still being answered waits for it. What is thrown is not
 * kept.
 */
export async function once<Answer>(
  services: Known,
  sent: Sent,
  work: () => Promise<Answer>,
  { kept: keptOf, read }: Keeping<Answer>,
): Promise<Answer> {
  const key = { subject: sent.subject, digest: digestOf(services, sent) };
  while (!(await claim(services, key))) {
    const known = await waitForAnswer(services, key);
    if (known !== undefined) return read(known);
  }
  let kept: Kept | undefined;
  try {
    const answer = await work();
    kept = keptOf(answer);
    return answer;
  } finally {
    await (kept ? keep(services, key, kept) : release(services, key));
  }
}

interface Key {
  readonly subject: string;
  readonly digest: Uint8Array<ArrayBuffer>;
}

// With a key outside the database: a form may hold a password.
const digestOf = ({ cipher }: Known, { target, values }: Sent): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHmac('sha256', cipher.passingKeys('sign-in-form')[0])
      .update(JSON.stringify([target, values]))
      .digest(),
  );

/** @returns False while somebody else answers it, or has done so. */
async function claim(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { subject, digest }: Key,
): Promise<boolean> {
  const now = clock.now();
  const lost = new Date(now.getTime() - longestMs);
  const statement = Prisma.sql`
    INSERT INTO "SentForm" AS s ("subject", "digest", "sentAt") VALUES (${subject}, ${digest}, ${now})
    ON CONFLICT ("subject", "digest") DO UPDATE
      SET "answer" = NULL, "standsUntil" = NULL, "sentAt" = excluded."sentAt"
     WHERE (s."answer" IS NULL AND s."sentAt" < ${lost})
        OR s."standsUntil" <= ${now}
    RETURNING "subject"`;
  return (await runPrepared(database.sql, 'form-claimed', statement)).length > 0;
}

/** The answer of whoever answers it; undefined if they refuse it, keep none, or are gone. */
async function waitForAnswer(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  key: Key,
): Promise<Prisma.JsonValue | undefined> {
  for (let lookMs = firstLookMs; ; lookMs = Math.min(2 * lookMs, longestLookMs)) {
    const found = await database.prisma.sentForm.findUnique({ where: { subject_digest: key } });
    if (found?.answer) return found.answer;
    if (!found || clock.now().getTime() - found.sentAt.getTime() > longestMs) return undefined;
    await sleep(lookMs);
  }
}

/** Keeps an answer, in place of those before it. */
async function keep(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { subject, digest }: Key,
  { answer, standsSeconds }: Kept,
): Promise<void> {
  if (standsSeconds === null) {
    await database.prisma.$executeRaw`
      DELETE FROM "SentForm"
       WHERE "subject" = ${subject} AND ("digest" = ${digest} OR "answer" IS NOT NULL)`;
    return;
  }
  const standsUntil = new Date(clock.now().getTime() + standsSeconds * 1000);
  const statement = Prisma.sql`
    WITH "before" AS (
      DELETE FROM "SentForm"
       WHERE "subject" = ${subject} AND "digest" <> ${digest} AND "answer" IS NOT NULL)
    UPDATE "SentForm" SET "answer" = ${JSON.stringify(answer)}::jsonb, "standsUntil" = ${standsUntil}
     WHERE "subject" = ${subject} AND "digest" = ${digest}`;
  await runPrepared(database.sql, 'form-answered', statement);
}

const release = ({ database }: Pick<Services, 'database'>, key: Key): Promise<unknown> =>
  database.prisma.sentForm.deleteMany({ where: key });
