import { createLoop, type Loop } from '../../dispatch/loop.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';
import { switchOff } from '../endpoint/switch-off.ts';
import type { RecordedAttempt } from './queue.ts';
import { failureGapMs, failureLimitMs } from './schedule.ts';

// How exactly it is known when the last failure was: not every failure is worth a write.
const graspMs = 60 * 60 * 1000;

/** What came of a webhook's attempts. */
export interface Outcome {
  /** Whether any of them succeeded. */
  readonly isSuccess: boolean;
  /** When the first of them was. */
  readonly at: Date;
}

/**
 * Remembers since when a webhook has had failures alone, and switches it off after five days of them. A long time
 * without any attempt is not one of failures.
 *
 * @param outcomes Of webhooks' last attempts, by webhook.
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
    await database.prisma.webhook.updateMany({
      where: { id: { in: succeeded }, failingSince: { not: null } },
      data: { failingSince: null },
    });
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
    // A process that ended between a success and this note of it left the note out.
    if (failingSince && (await hasSucceeded(database, id, failingSince))) {
      await database.prisma.webhook.update({ where: { id }, data: { failingSince: now } });
    } else await switchOff(services, id, 'Every attempt of the last five days failed.');
  }
}

/** What came of attempts, noted beside the queue: a note waits for whoever changes the webhook. */
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

  /** Has it noted soon what came of attempts that are recorded. */
  add(attempts: readonly RecordedAttempt[]): void {
    for (const { webhookId, status, at, tellsOfEndpoint } of attempts) {
      if (tellsOfEndpoint) this.#merge(webhookId, { isSuccess: status === 'SUCCEEDED', at });
    }
    this.#loop.wake();
  }

  /** Notes what is left. */
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
