import type { KeyObject } from 'node:crypto';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import { keyOf } from '../../outbound/signature.ts';
import type { Services } from '../../services.ts';
import { openHeaders, openSecret } from './sealed.ts';

/** A webhook as an attempt needs it, with its secrets decrypted. */
export interface Endpoint {
  readonly id: string;
  readonly revision: number;
  readonly url: string;
  readonly hostname: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly { readonly key: KeyObject; readonly expiresAt: Date | null }[];
  readonly query: string | null;
  readonly grantedScopes: ReadonlySet<string>;
  readonly creatorId: string | null;
}

const maxEndpoints = 10_000;

/** A cache of the webhooks that this node posts to. An entry is valid until the webhook's revision changes. */
export class Endpoints {
  readonly #prisma: PrismaClient;
  readonly #cipher: Services['cipher'];
  readonly #known = new Map<string, Endpoint>();

  constructor({ database, cipher }: Pick<Services, 'database' | 'cipher'>) {
    this.#prisma = database.prisma;
    this.#cipher = cipher;
  }

  /**
   * The endpoints of these webhooks. One whose revision differs from the cached one is read again. Deleted webhooks are
   * left out.
   */
  async get(
    wanted: readonly { readonly webhookId: string; readonly revision: number }[],
  ): Promise<ReadonlyMap<string, Endpoint>> {
    if (this.#known.size > maxEndpoints) this.#known.clear();
    const missing = wanted.filter(
      ({ webhookId, revision }) => (this.#known.get(webhookId)?.revision ?? 0) < revision,
    );
    if (missing.length > 0) await this.#load([...new Set(missing.map((one) => one.webhookId))]);
    return this.#known;
  }

  async #load(ids: string[]): Promise<void> {
    const rows = await this.#prisma.webhook.findMany({
      where: { id: { in: ids } },
      include: { secrets: { orderBy: { id: 'desc' } } },
    });
    for (const row of rows) {
      this.#known.set(row.id, {
        id: row.id,
        revision: row.revision,
        url: row.url,
        hostname: new URL(row.url).hostname,
        headers: openHeaders(this.#cipher, row),
        secrets: row.secrets.map((secret) => ({
          key: keyOf(openSecret(this.#cipher, secret)),
          expiresAt: secret.expiresAt,
        })),
        query: row.query,
        grantedScopes: new Set(row.grantedScopes),
        creatorId: row.creatorId,
      });
    }
  }
}
