import { readHoldings } from '../../auth/granting.ts';
import { allows, commonScopes, type ManagementScope } from '../../auth/scopes.ts';
import type { Services } from '../../services.ts';
import type { Endpoint } from './endpoints.ts';
import { switchOff } from './switch-off.ts';

// By the machine's own clock: how long after its creator's a webhook's rights may end.
const freshMs = 1000;
const needed: readonly ManagementScope[] = ['webhooks:write', 'events:read'];
const reason = `Its creator no longer holds the scopes ${needed.join(' and ')}.`;

/**
 * What the creators of webhooks hold, as this node knows it: a webhook lives no longer than its creator's scopes. Each
 * node looks for itself, once a second at most and in one statement for all: what takes scopes away, in however many
 * ways, need not know of webhooks.
 */
export class Creators {
  readonly #services: Services;
  #holdings: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Switches off the webhooks whose creators no longer hold what it takes. Before a claim, which then has none of them.
   *
   * @returns False if the last look was a moment ago, and this one was skipped.
   */
  async check(): Promise<boolean> {
    const startedAt = performance.now();
    if (startedAt - this.#readAt < freshMs) return false;
    const { prisma } = this.#services.database;
    const creators = await prisma.$queryRaw<{ id: string }[]>`
      SELECT DISTINCT "creatorId" AS "id" FROM "Webhook" WHERE "enabled" AND "creatorId" IS NOT NULL`;
    const ids = creators.map(({ id }) => id);
    this.#holdings = await readHoldings(prisma, ids);
    this.#readAt = startedAt;
    const lacking = ids.filter((id) => !needed.every((scope) => allows(this.#held(id), scope)));
    if (lacking.length === 0) return true;
    const webhooks = await prisma.webhook.findMany({
      where: { enabled: true, creatorId: { in: lacking } },
      select: { id: true, revision: true },
    });
    for (const { id, revision } of webhooks) await switchOff(this.#services, id, reason, revision);
    return true;
  }

  /** With what scopes a webhook's query runs, and whether they are fewer than it was given. */
  async scopesOf({
    creatorId,
    grantedScopes,
  }: Pick<Endpoint, 'creatorId' | 'grantedScopes'>): Promise<{
    scopes: ReadonlySet<string>;
    isNarrowed: boolean;
  }> {
    if (creatorId === null) return { scopes: grantedScopes, isNarrowed: false };
    if (!this.#holdings.has(creatorId)) {
      // New since the last look.
      const found = await readHoldings(this.#services.database.prisma, [creatorId]);
      this.#holdings = new Map([...this.#holdings, [creatorId, found.get(creatorId) ?? new Set()]]);
    }
    const held = this.#held(creatorId);
    if ([...grantedScopes].every((scope) => allows(held, scope as ManagementScope))) {
      return { scopes: grantedScopes, isNarrowed: false };
    }
    return { scopes: new Set(commonScopes(grantedScopes, held)), isNarrowed: true };
  }

  #held(id: string): ReadonlySet<string> {
    return this.#holdings.get(id) ?? new Set();
  }
}
