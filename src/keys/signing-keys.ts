import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Clock } from '../clock.ts';
import type { Config, SigningAlgorithm } from '../config.ts';
import { lockName } from '../db/lock.ts';
import type { Transaction } from '../db/transaction.ts';
import type { PrismaClient, SigningKey } from '../generated/prisma/client.ts';
import { kindOfId, newId } from '../ids.ts';
import type { Sealing } from './cipher.ts';
import { purposeOf } from './sealed-columns.ts';

/** A key that signs. */
interface SigningKeyHandle {
  readonly kid: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
  readonly privateJwk: JWK;
}

/** How a resource's access tokens are signed. */
export interface ResourceAlgorithms {
  /** Null: as the service signs. */
  readonly signingAlg: string | null;
  readonly signingAlgBefore: string | null;
}

/** The signing keys, in memory; the database holds them encrypted. */
export interface SigningKeys {
  /** The key that signs new tokens, except where an application or a resource asks for another algorithm. */
  current(): SigningKeyHandle;
  /** The key that signs a resource's access tokens: in its algorithm, or as before until a key of that signs. */
  signerFor(resource: ResourceAlgorithms): SigningKeyHandle;
  /**
   * The public key with that `kid`, while it is published. An unknown `kid` may be another node's new key: the caller
   * waits while the database is read again, at most once a second.
   */
  publicKey(kid: string): Promise<{ key: KeyObject; algorithm: string } | undefined>;
  /** The published key set (RFC 7517 §5), the current key first. */
  jwks(): { keys: JWK[] };
  /** Every key with its private part, the current one first, in the form that oidc-provider needs. */
  privateJwks(): { keys: JWK[] };
  /** Grows by one whenever the set changes, or another key begins to sign. */
  readonly version: number;
  /** Reads the keys again. */
  reload(): Promise<void>;
}

/** The id token's lifetime, in seconds. */
export const idTokenTtlSeconds = 3600;

const purpose = (kid: string) => purposeOf('signing-key', kid);
// Unknown `kid`s come from outside; each must not cost a query.
const reloadIntervalMs = 1_000;
const isKeyId = (kid: string) => kindOfId(kid) === 'SigningKey';

/**
 * Creates a signing key and stores it, its private half encrypted.
 *
 * @param options.isBeside Whether it is for applications and resources that ask for its algorithm, beside the service's.
 * @param options.signsFrom From when it signs; by default at once.
 */
export async function createSigningKey(
  tx: Transaction,
  { cipher, clock }: { cipher: Sealing; clock: Clock },
  algorithm: SigningAlgorithm,
  { isBeside = false, signsFrom }: { isBeside?: boolean; signsFrom?: Date } = {},
): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, {
    extractable: true,
    ...(algorithm === 'EdDSA' ? { crv: 'Ed25519' } : {}),
  });
  const id = newId('SigningKey');
  const common = { kid: id, alg: algorithm, use: 'sig' };
  const publicJwk = { ...(await exportJWK(publicKey)), ...common };
  const privateJwk = { ...(await exportJWK(privateKey)), ...common };
  return tx.signingKey.create({
    data: {
      id,
      algorithm,
      publicJwk,
      privateJwk: cipher.encrypt(JSON.stringify(privateJwk), purpose(id)),
      isBeside,
      createdAt: clock.now(),
      signsFrom: signsFrom ?? clock.now(),
    },
  });
}

/** The name of the lock to hold while creating or retiring signing keys. */
export const signingKeysLock = 'signet:signing-keys';

/** From when a key signs that is made now. */
export const signsAfterLead = ({
  clock,
  config,
}: {
  clock: Clock;
  config: Pick<Config, 'signingKeyLeadSeconds'>;
}): Date => new Date(clock.now().getTime() + config.signingKeyLeadSeconds * 1000);

/**
 * Creates a key for an algorithm that an application or a resource asks for, if there is none. The first key of an
 * algorithm signs id tokens before its time too: no other can.
 *
 * @param signsFrom From when it signs.
 * @returns The new key, or null.
 */
export async function ensureKeyBeside(
  tx: Transaction,
  services: { cipher: Sealing; clock: Clock },
  algorithm: SigningAlgorithm,
  signsFrom: Date,
): Promise<SigningKey | null> {
  await lockName(tx, signingKeysLock);
  const existing = await tx.signingKey.count({ where: { algorithm, retiredAt: null } });
  return existing === 0
    ? createSigningKey(tx, services, algorithm, { isBeside: true, signsFrom })
    : null;
}

/** What says where a key stands at an instant. */
type Term = Pick<SigningKey, 'signsFrom' | 'createdAt' | 'retiredAt'>;

/** From when a key signs. A node of the version before makes keys that sign at once. */
export const signingStartOf = ({ signsFrom, createdAt }: Omit<Term, 'retiredAt'>): Date =>
  signsFrom ?? createdAt;

/** Where a key stands: published and not signing yet, signing, or only verifying. */
export type SigningKeyStatus = 'PENDING' | 'ACTIVE' | 'RETIRED';

/** Where a key stands at an instant. One that was replaced before its time has never signed, and is retired. */
export function statusAt(key: Term, now: Date): SigningKeyStatus {
  if (key.retiredAt !== null && key.retiredAt <= now) return 'RETIRED';
  return signingStartOf(key) > now ? 'PENDING' : 'ACTIVE';
}

// Another node may use a retired key for some seconds more; those tokens must stay valid too.
const graceSeconds = 60;

/** When the last token of a key expires that stops signing at an instant, and that signed for so many seconds at most. */
export const lastTokenExpiresAt = (retiredAt: Date, ttlSeconds: number): Date =>
  new Date(retiredAt.getTime() + (Math.max(ttlSeconds, idTokenTtlSeconds) + graceSeconds) * 1000);

/**
 * Keeps keys that are to retire in the key set for as long as tokens of a new lifetime that they sign until then. Call it
 * before the lifetime changes: a rotation waits, and then reads the new one.
 */
export async function outliveTokens(
  tx: Transaction,
  { clock }: { clock: Clock },
  ttlSeconds: number | null | undefined,
): Promise<void> {
  if (ttlSeconds == null || ttlSeconds <= idTokenTtlSeconds) return;
  await lockName(tx, signingKeysLock);
  // Nodes that have not read the keys again sign a little longer.
  const since = new Date(clock.now().getTime() - graceSeconds * 1000);
  const retiring = await tx.signingKey.findMany({
    where: { retiredAt: { gt: since } },
    select: { id: true, retiredAt: true, expiresAt: true },
  });
  for (const { id, retiredAt, expiresAt: before } of retiring) {
    const expiresAt = lastTokenExpiresAt(retiredAt ?? since, ttlSeconds);
    if (before === null || before < expiresAt)
      await tx.signingKey.update({ where: { id }, data: { expiresAt }, select: { id: true } });
  }
}

interface OpenKey {
  readonly row: SigningKey;
  readonly jwk: JWK;
  readonly publicKey: KeyObject;
  readonly handle: SigningKeyHandle;
}

function openKey(cipher: Sealing, row: SigningKey): OpenKey {
  const { id: kid, algorithm } = row;
  const privateJwk = JSON.parse(cipher.decrypt(row.privateJwk, purpose(kid))) as JWK;
  const jwk = row.publicJwk as JWK;
  const privateKey = createPrivateKey({ key: privateJwk, format: 'jwk' });
  return {
    row,
    jwk,
    publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
    handle: { kid, algorithm, privateKey, privateJwk },
  };
}

const ranks = { ACTIVE: 0, PENDING: 2, RETIRED: 3 } as const;

/**
 * Sorts keys: those that sign, the newest first; those that will, the next one first; those that have signed, the last
 * one first. The first of an algorithm signs: of one that is new, the key that is to come, since no other could.
 */
function sorted(keys: readonly OpenKey[], now: Date): OpenKey[] {
  const rankOf = ({ row }: OpenKey) => {
    const rank = ranks[statusAt(row, now)];
    return rank === ranks.ACTIVE && row.isBeside ? rank + 1 : rank;
  };
  const startOf = ({ row }: OpenKey) => signingStartOf(row).getTime();
  return keys.toSorted((a, b) => {
    const [rank, other] = [rankOf(a), rankOf(b)];
    if (rank !== other) return rank - other;
    return rank === ranks.PENDING ? startOf(a) - startOf(b) : startOf(b) - startOf(a);
  });
}

/**
 * Reads the signing keys into memory.
 *
 * @throws when there is no key, or one does not decrypt.
 */
export async function loadSigningKeys(options: {
  prisma: PrismaClient;
  cipher: Sealing;
  clock: Clock;
}): Promise<SigningKeys> {
  const { prisma, cipher, clock } = options;
  let keys: readonly OpenKey[] = [];
  let nextChange = Number.POSITIVE_INFINITY;
  let version = 0;
  let lastReloadAt = 0;
  let nextReload: Promise<void> | undefined;

  // One after the other: a reload from before a change must not end after one that has seen the change.
  let lastReload = Promise.resolve();
  function reload(): Promise<void> {
    const done = lastReload.then(read);
    lastReload = done.catch(() => undefined);
    return done;
  }

  async function read() {
    lastReloadAt = clock.now().getTime();
    const rows = await prisma.signingKey.findMany({
      where: { OR: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }] },
      orderBy: { id: 'desc' },
    });
    const isSame =
      rows.length === keys.length &&
      rows.every((row) => keys.some((key) => isDeepStrictEqual(termOf(key.row), termOf(row))));
    if (isSame && rows.length > 0) return;
    const known = new Map(keys.map((key) => [key.row.id, key]));
    if (rows.length === 0) throw new Error('The database holds no signing key.');
    keys = rows.map((row) => ({ ...(known.get(row.id) ?? openKey(cipher, row)), row }));
    arrange();
  }

  const termOf = ({ id, signsFrom, retiredAt, expiresAt }: SigningKey) => ({
    id,
    signsFrom,
    retiredAt,
    expiresAt,
  });

  function arrange() {
    const now = clock.now();
    keys = sorted(keys, now);
    const changes = keys.flatMap(({ row }) => [signingStartOf(row), row.retiredAt ?? now]);
    nextChange = Math.min(...changes.filter((at) => at > now).map((at) => at.getTime()));
    version += 1;
  }

  /** The keys as they are now: time alone changes which one signs. */
  function current(): readonly OpenKey[] {
    if (clock.now().getTime() >= nextChange) arrange();
    return keys;
  }

  const isPublished = ({ row: { expiresAt } }: OpenKey) =>
    expiresAt === null || expiresAt > clock.now();
  function find(kid: string) {
    const key = keys.find(({ row }) => row.id === kid);
    return key && isPublished(key)
      ? { key: key.publicKey, algorithm: key.row.algorithm }
      : undefined;
  }

  // All waiting callers share one reload, which begins after the last of them has arrived.
  function reloadSoon(): Promise<void> {
    const wait = async () => {
      const waitMs = lastReloadAt + reloadIntervalMs - clock.now().getTime();
      if (waitMs > 0) await delay(Math.min(waitMs, reloadIntervalMs));
      nextReload = undefined;
      await reload();
    };
    nextReload ??= wait();
    return nextReload;
  }

  function currentHandle(): SigningKeyHandle {
    const first = current().find(({ row }) => !row.isBeside);
    if (!first) throw new Error('The database holds no signing key.');
    return first.handle;
  }

  function activeHandle(algorithm: string | null): SigningKeyHandle | undefined {
    if (algorithm === null) return undefined;
    const now = clock.now();
    return current().find(
      ({ row }) => row.algorithm === algorithm && statusAt(row, now) === 'ACTIVE',
    )?.handle;
  }

  await reload();
  return {
    current: currentHandle,
    signerFor: ({ signingAlg, signingAlgBefore }) =>
      (signingAlg === null
        ? undefined
        : (activeHandle(signingAlg) ?? activeHandle(signingAlgBefore))) ?? currentHandle(),
    async publicKey(kid) {
      const known = find(kid);
      if (known || !isKeyId(kid)) return known;
      await reloadSoon();
      return find(kid);
    },
    jwks: () => ({
      keys: current()
        .filter(isPublished)
        .map(({ jwk }) => jwk),
    }),
    privateJwks: () => ({ keys: current().map(({ handle }) => handle.privateJwk) }),
    get version() {
      current();
      return version;
    },
    reload,
  };
}
