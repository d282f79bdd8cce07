import { runSql } from '../../db/sql.ts';
import { createLoop, type Loop } from '../../dispatch/loop.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';
import { switchOff } from '../endpoint/switch-off.ts';
import type { RecordedAttempt } from './queue.ts';
import { failureGapMs, failureLimitMs } from './schedule.ts';

// The precision of `lastFailureAt`, which saves a write on most failures.
const graspMs = 60 * 60 * 1000;

/** The outcome of several attempts of a webhook. */
export interface Outcome {
  /** Whether any of them succeeded. */
  readonly isSuccess: boolean;
  /** The time of the first of them. */
  readonly at: Date;
}

/**
 * Saves the start of an unbroken row of failures, and disables a webhook after five days of them. Two days without any
 * attempt break the row.
 *
 * @param outcomes The outcomes of the latest attempts, by webhook.
 */
export async function noteOutcomes(
  services: Services,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<void> {
  const { database, clock } = services;
  const succeeded = [...outcomes].flatMap(([id, { isSuccess }]) => (isSuccess ? [id] : []));
  const failures = [...outcomes].flatMap(([id, { isSuccess, at }]) =>
    isSuccess ? [] : { id, at },
  );
  const failed = failures.map(({ id }) => id);
  if (succeeded.length > 0) {
    await runSql(
      database.sql,
      Prisma.sql`
        UPDATE "Webhook" SET "failingSince" = NULL WHERE "id" = ANY(${succeeded}) AND "failingSince" IS NOT NULL`,
    );
  }
  if (failed.length === 0) return;
  await database.prisma.$executeRaw`
    UPDATE "Webhook" w
       SET "failingSince" = CASE WHEN w."lastFailureAt" > f."at" - make_interval(secs => ${failureGapMs / 1000})
                                 THEN coalesce(w."failingSince", f."at") ELSE f."at" END,
           "lastFailureAt" = f."at"
      FROM jsonb_to_recordset(${JSON.stringify(failures)}::jsonb) AS f ("id" text, "at" timestamptz(3))
     WHERE w."id" = f."id"
       AND (w."failingSince" IS NULL OR w."lastFailureAt" IS NULL
            OR w."lastFailureAt" <= f."at" - make_interval(secs => ${graspMs / 1000}))`;
  const now = clock.now();
  const longAgo = new Date(now.getTime() - failureLimitMs);
  const failing = await database.prisma.webhook.findMany({
    where: { id: { in: failed }, enabled: true, failingSince: { lte: longAgo } },
    select: { id: true, failingSince: true },
  });
  for (const { id, failingSince } of failing) {
    // A process may have ended after a success and before it was noted.
    if (failingSince && (await hasSucceeded(database, id, failingSince))) {
      await database.prisma.webhook.update({ where: { id }, data: { failingSince: now } });
    } else await switchOff(services, id, 'Every attempt of the last five days failed.');
  }
}

/** Notes the outcomes of attempts outside the queue, because a note may wait for a lock on the webhook. */
export class OutcomeNotes {
  readonly #services: Services;
  readonly #loop: Loop;
  #outcomes = new Map<string, Outcome>();

  constructor(services: Services) {
    this.#services = services;
    this.#loop = createLoop(
      () => this.#note(),
      (error) => this.#report(error),
    );
  }

  /** Adds recorded attempts; their outcomes are noted soon. */
  add(attempts: readonly RecordedAttempt[]): void {
    for (const { webhookId, status, at, countsForEndpoint } of attempts) {
      if (countsForEndpoint) this.#merge(webhookId, { isSuccess: status === 'SUCCEEDED', at });
    }
    this.#loop.wake();
  }

  /** Notes the remaining outcomes. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#note().catch((error: unknown) => this.#report(error));
  }

  #merge(webhookId: string, { isSuccess, at }: Outcome): void {
    const known = this.#outcomes.get(webhookId);
    this.#outcomes.set(webhookId, {
      isSuccess: isSuccess || (known?.isSuccess ?? false),
      at: known && known.at < at ? known.at : at,
    });
  }

  async #note(): Promise<void> {
    const outcomes = this.#outcomes;
    if (outcomes.size === 0) return;
    this.#outcomes = new Map();
    try {
      await noteOutcomes(this.#services, outcomes);
    } catch (error) {
      for (const [webhookId, outcome] of outcomes) this.#merge(webhookId, outcome);
      throw error;
    }
  }

  #report(error: unknown): void {
    this.#services.log.error({ err: error }, 'what became of webhooks could not be noted');
  }
}

async function hasSucceeded(
  { prisma }: Services['database'],
  webhookId: string,
  since: Date,
): Promise<boolean> {
  const attempt = await prisma.deliveryAttempt.findFirst({
    where: {
      at: { gte: since },
      statusCode: { gte: 200, lt: 300 },
      delivery: { webhookId, testEvent: { equals: Prisma.AnyNull } },
    },
    select: { at: true },
  });
  return attempt !== null;
}
