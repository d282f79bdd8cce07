import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../services.ts';

/** Where a browser goes on. */
export type Redirection = (
  | {
      /** A path below the site's first page. */
      readonly goTo: string;
    }
  | {
      /** A URL outside the site. */
      readonly leaveTo: string;
    }
) & {
  readonly cookies?: string[];
  /**
   * How long the same form is answered by it, in seconds; by default as its site says. With 0 it answers those alone who
   * wait for it, with null nobody: each time it is another.
   */
  readonly standsSeconds?: number | null;
};

/** A submitted form. */
export interface SentForm {
  /** Names the session that it belongs to. */
  readonly subject: string;
  /** The path and the query that it was posted to. */
  readonly target: string;
  readonly values: URLSearchParams;
  /** How long its answer stands, in seconds, where the answer does not say so. */
  readonly standsSeconds: number;
}

// A form that takes longer was lost with its node.
const longestMs = 30_000;
// Many may wait for one form, and each looks by itself.
const firstLookMs = 50;
const longestLookMs = 1_000;

/**
 * Answers a form that a browser sends twice (a double click, Back and once more) as it was answered the first time: its
 * step is done, and doing it again would fail, or use something up again. It holds for the form that was the last to be
 * answered in its session by a redirect. Whoever comes while the first is still being answered waits for it.
 *
 * A refused form, and one that is answered by a page, is answered anew each time.
 */
export async function answerOnce<Other extends object>(
  services: Pick<Services, 'database' | 'cipher' | 'clock'>,
  sent: SentForm,
  work: () => Promise<Other | Redirection>,
): Promise<Other | Redirection> {
  const key = { subject: sent.subject, digest: digestOf(services, sent) };
  while (!(await claim(services, key))) {
    const known = await waitForAnswer(services, key);
    if (known) return known;
  }
  let kept: Kept | undefined;
  try {
    const answer = await work();
    kept = keptOf(answer, sent);
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
function digestOf(
  { cipher }: Pick<Services, 'cipher'>,
  { target, values }: SentForm,
): Uint8Array<ArrayBuffer> {
  const fields = [...values].filter(([name]) => name !== 'csrf');
  return new Uint8Array(
    createHmac('sha256', cipher.passingKeys('sign-in-form')[0])
      .update(JSON.stringify([target, fields]))
      .digest(),
  );
}

/** @returns False while somebody else answers the form, or has done so. */
async function claim(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { subject, digest }: Key,
): Promise<boolean> {
  const now = clock.now();
  const lost = new Date(now.getTime() - longestMs);
  const claimed = await database.prisma.$executeRaw`
    INSERT INTO "SentForm" AS s ("subject", "digest", "sentAt") VALUES (${subject}, ${digest}, ${now})
    ON CONFLICT ("subject", "digest") DO UPDATE
      SET "answer" = NULL, "standsUntil" = NULL, "sentAt" = excluded."sentAt"
     WHERE (s."answer" IS NULL AND s."sentAt" < ${lost})
        OR s."standsUntil" <= ${now}`;
  return claimed > 0;
}

/** The answer of whoever answers the form; undefined if they refuse it, or are gone. */
async function waitForAnswer(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  key: Key,
): Promise<Redirection | undefined> {
  for (let lookMs = firstLookMs; ; lookMs = Math.min(2 * lookMs, longestLookMs)) {
    const found = await database.prisma.sentForm.findUnique({ where: { subject_digest: key } });
    if (found?.answer) return found.answer as Redirection;
    if (!found || clock.now().getTime() - found.sentAt.getTime() > longestMs) return undefined;
    await sleep(lookMs);
  }
}

interface Kept {
  readonly where: Omit<Redirection, 'cookies' | 'standsSeconds'>;
  readonly standsSeconds: number;
}

/** What is kept of an answer: without its cookies, which may be secret. */
function keptOf(
  answer: object | Redirection,
  sent: Pick<SentForm, 'standsSeconds'>,
): Kept | undefined {
  if (!('goTo' in answer || 'leaveTo' in answer)) return undefined;
  const { cookies: _with, standsSeconds = sent.standsSeconds, ...where } = answer;
  return standsSeconds === null ? undefined : { where, standsSeconds };
}

/** Keeps an answer, in place of those before it. */
async function keep(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { subject, digest }: Key,
  { where, standsSeconds }: Kept,
): Promise<void> {
  const standsUntil = new Date(clock.now().getTime() + standsSeconds * 1000);
  await database.prisma.$executeRaw`
    WITH "before" AS (
      DELETE FROM "SentForm"
       WHERE "subject" = ${subject} AND "digest" <> ${digest} AND "answer" IS NOT NULL)
    UPDATE "SentForm" SET "answer" = ${where}::jsonb, "standsUntil" = ${standsUntil}
     WHERE "subject" = ${subject} AND "digest" = ${digest}`;
}

const release = ({ database }: Pick<Services, 'database'>, key: Key): Promise<unknown> =>
  database.prisma.sentForm.deleteMany({ where: key });
