import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Clock } from '../clock.ts';
import type { SigningAlgorithm } from '../config.ts';
import { lockName } from '../db/lock.ts';
import type { Transaction } from '../db/transaction.ts';
import type { PrismaClient, SigningKey } from '../generated/prisma/client.ts';
import { kindOfId, newId } from '../ids.ts';
import type { Cipher } from './cipher.ts';

/** A key that signs. */
export interface SigningKeyHandle {
  readonly kid: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
  readonly privateJwk: JWK;
  /** Made for applications that ask for its algorithm; it signs no access tokens. */
  readonly forIdTokens: boolean;
}

/** The signing keys, in memory; the database holds them encrypted. */
export interface SigningKeys {
  /** The key that signs new tokens, except id tokens in an algorithm that an application requires. */
  current(): SigningKeyHandle;
  /**
   * The public key with that `kid`, while it is published. An unknown `kid` may be another node's new key: the caller
   * waits while the database is read again, at most once a second.
   */
  publicKey(kid: string): Promise<{ key: KeyObject; algorithm: string } | undefined>;
  /** The published key set (RFC 7517 §5), the current key first. */
  jwks(): { keys: JWK[] };
  /** Every key with its private part, the current one first, in the form that oidc-provider needs. */
  privateJwks(): { keys: JWK[] };
  /** Grows by one whenever the set changes. */
  readonly version: number;
  /** Reads the keys again. */
  reload(): Promise<void>;
}

/** The id token's lifetime, in seconds. */
export const idTokenTtlSeconds = 3600;

const purpose = (kid: string) => `signing-key:${kid}`;
// Unknown `kid`s come from outside; each must not cost a query.
const reloadIntervalMs = 1_000;
const isKeyId = (kid: string) => kindOfId(kid) === 'SigningKey';

/** Creates a signing key and stores it, its private half encrypted. */
export async function createSigningKey(
  tx: Transaction,
  { cipher, clock }: { cipher: Cipher; clock: Clock },
  algorithm: SigningAlgorithm,
  { forIdTokens = false }: { forIdTokens?: boolean } = {},
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
      forIdTokens,
      createdAt: clock.now(),
    },
  });
}

/** The name of the lock to hold while creating or retiring signing keys. */
export const signingKeysLock = 'signet:signing-keys';

/** Creates a key that signs id tokens in an algorithm, if no key does. */
export async function ensureIdTokenKey(
  tx: Transaction,
  services: { cipher: Cipher; clock: Clock },
  algorithm: SigningAlgorithm,
): Promise<void> {
  await lockName(tx, signingKeysLock);
  const existing = await tx.signingKey.count({ where: { algorithm, retiredAt: null } });
  if (existing === 0) await createSigningKey(tx, services, algorithm, { forIdTokens: true });
}

/** Whether this cipher's secret encrypted the key's private half. */
export function canDecrypt(cipher: Cipher, key: Pick<SigningKey, 'id' | 'privateJwk'>): boolean {
  try {
    cipher.decrypt(key.privateJwk, purpose(key.id));
    return true;
  } catch {
    return false;
  }
}

function openKey(
  cipher: Cipher,
  { id, algorithm, publicJwk: stored, privateJwk: encrypted, expiresAt, forIdTokens }: SigningKey,
) {
  const privateJwk = JSON.parse(cipher.decrypt(encrypted, purpose(id))) as JWK;
  const publicJwk = stored as JWK;
  const privateKey = createPrivateKey({ key: privateJwk, format: 'jwk' });
  return {
    published: { jwk: publicJwk, expiresAt },
    publicKey: createPublicKey({ key: publicJwk, format: 'jwk' }),
    handle: { kid: id, algorithm, privateKey, privateJwk, forIdTokens } satisfies SigningKeyHandle,
  };
}

/**
 * Reads the signing keys into memory.
 *
 * @throws when there is no key, or one does not decrypt.
 */
export async function loadSigningKeys(options: {
  prisma: PrismaClient;
  cipher: Cipher;
  clock: Clock;
}): Promise<SigningKeys> {
  const { prisma, cipher, clock } = options;
  let handles: SigningKeyHandle[] = [];
  let publicKeys = new Map<string, { key: KeyObject; algorithm: string }>();
  let published: { jwk: JWK; expiresAt: Date | null }[] = [];
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
      orderBy: [{ retiredAt: { sort: 'asc', nulls: 'first' } }, { createdAt: 'desc' }],
    });
    const isSame =
      rows.length === handles.length &&
      rows.every(
        ({ id, expiresAt }, i) =>
          id === handles[i]?.kid && expiresAt?.getTime() === published[i]?.expiresAt?.getTime(),
      );
    if (isSame && rows.length > 0) return;
    const loaded = rows.map((row) => openKey(cipher, row));
    if (loaded.length === 0) throw new Error('The database holds no signing key.');
    handles = loaded.map(({ handle }) => handle);
    published = loaded.map((key) => key.published);
    publicKeys = new Map(
      loaded.map(({ handle, publicKey }) => [
        handle.kid,
        { key: publicKey, algorithm: handle.algorithm },
      ]),
    );
    version += 1;
  }

  const isPublished = ({ expiresAt }: (typeof published)[number]) =>
    expiresAt === null || expiresAt > clock.now();
  const find = (kid: string) =>
    published.some((key) => key.jwk.kid === kid && isPublished(key))
      ? publicKeys.get(kid)
      : undefined;

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

  await reload();
  return {
    current() {
      const first = handles.find(({ forIdTokens }) => !forIdTokens);
      if (!first) throw new Error('The database holds no signing key.');
      return first;
    },
    async publicKey(kid) {
      const known = find(kid);
      if (known || !isKeyId(kid)) return known;
      await reloadSoon();
      return find(kid);
    },
    jwks: () => ({ keys: published.filter(isPublished).map(({ jwk }) => jwk) }),
    privateJwks: () => ({ keys: handles.map(({ privateJwk }) => privateJwk) }),
    get version() {
      return version;
    },
    reload,
  };
}
