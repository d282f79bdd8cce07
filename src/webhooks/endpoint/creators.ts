import { readHoldings } from '../../auth/granting/holdings.ts';
import { allows, commonScopes, type ManagementScope } from '../../auth/scopes.ts';
import type { Services } from '../../services.ts';
import type { Endpoint } from './endpoints.ts';
import { switchOff } from './switch-off.ts';

// How long a webhook may keep rights that its creator has lost.
const freshMs = 1000;
const needed: readonly ManagementScope[] = ['webhooks:write', 'events:read'];
const reason = `Its creator no longer holds the scopes ${needed.join(' and ')}.`;

/**
 * The scopes that the creators of webhooks hold. A webhook stays enabled only as long as its creator holds the required
 * scopes. Each node checks this at most once a second, with one statement for all creators, so code that takes scopes
 * away need not know about webhooks.
 */
export class Creators {
  readonly #services: Services;
  #holdings: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Disables the webhooks whose creators no longer hold the required scopes. Runs before each claim.
   *
   * @returns False if it was skipped, because the last check was a moment ago.
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

  /** The scopes that a webhook's query runs with, and whether its creator has lost some of the granted ones. */
  async scopesOf({
    creatorId,
    grantedScopes,
  }: Pick<Endpoint, 'creatorId' | 'grantedScopes'>): Promise<{
    scopes: ReadonlySet<string>;
    isNarrowed: boolean;
  }> {
    if (creatorId === null) return { scopes: grantedScopes, isNarrowed: false };
    if (!this.#holdings.has(creatorId)) {
      // The webhook is newer than the last check.
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
