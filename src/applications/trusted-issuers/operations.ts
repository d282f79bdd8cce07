import { z } from 'zod';
import { assertMayBeAnybody, assertMayBeApplication } from '../../auth/granting/may-open.ts';
import { boundBy, renewedBy, setterScopesOf } from '../../auth/granting/setter-scopes.ts';
import { lockRow } from '../../db/lock.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { type InputIssue, InvalidInputError, NotAllowedError } from '../../errors.ts';
import { changesBetween, recordChange, recordEvent } from '../../events/record.ts';
import type { TrustedIssuer } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { notNull, parseInput, patched } from '../../input.ts';
import { faultsOfTarget } from '../../outbound/target.ts';
import { maxAccessTokenTtlSeconds } from '../../resources/operations.ts';
import type { Context } from '../../services.ts';
import { assertNotBuiltIn } from '../built-in.ts';
import { isConfidential } from '../secret.ts';
import { defaultLifetimeSeconds, issuerFields } from './fields.ts';
import { rulesOf, trustedIssuerRecord, trustedIssuers } from './payload.ts';

const createInput = z.object({
  ...issuerFields,
  claimRules: issuerFields.claimRules.nullish(),
  maxLifetimeSeconds: issuerFields.maxLifetimeSeconds.nullish(),
  requireJti: issuerFields.requireJti.nullish(),
});

/**
 * Trusts an issuer: by its assertions, an application gets tokens (RFC 7523 §2.1). Raises `TrustedIssuer.Created`.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the application; {@link NotAllowedError} when its type does not
 *   fit, or when the application, or a person who could be asserted, holds more than the caller.
 */
export async function createTrustedIssuer(
  context: Context,
  input: z.input<typeof createInput>,
): Promise<TrustedIssuer> {
  const given = parseInput(createInput, input, await faultsOfAddress(context, input.jwksUri));
  const values = { ...given, ...withDefaults(given) };
  assertConsistent(context, values);
  const now = context.clock.now();
  return transaction(context.database, async (tx) => {
    await assertMayTrust(tx, context, values);
    const created = await tx.trustedIssuer.create({
      data: {
        ...values,
        claimRules: [...values.claimRules],
        id: newId('TrustedIssuer'),
        setterScopes: setterScopesOf(context),
        createdAt: now,
        updatedAt: now,
      },
    });
    const told = await recordEvent(
      tx,
      context,
      'TrustedIssuer.Created',
      trustedIssuerRecord(created),
    );
    return told.with(created);
  });
}

const updateInput = z.object({
  id: z.string(),
  name: notNull(issuerFields.name),
  issuer: notNull(issuerFields.issuer),
  jwksUri: notNull(issuerFields.jwksUri),
  kind: notNull(issuerFields.kind),
  claimRules: issuerFields.claimRules.nullish(),
  applicationId: notNull(issuerFields.applicationId),
  maxLifetimeSeconds: issuerFields.maxLifetimeSeconds.nullish(),
  requireJti: issuerFields.requireJti.nullish(),
});

/**
 * Changes a trusted issuer. An absent field stays as it is; null restores its default. Raises
 * `TrustedIssuer.Data.Updated` if something changed.
 *
 * @throws as {@link createTrustedIssuer}, and {@link NotFoundError} of the issuer.
 */
export async function updateTrustedIssuer(
  context: Context,
  input: z.input<typeof updateInput>,
): Promise<TrustedIssuer> {
  const { id, ...given } = parseInput(
    updateInput,
    input,
    await faultsOfAddress(context, input.jwksUri),
  );
  const patch = {
    ...given,
    claimRules: given.claimRules === null ? [] : given.claimRules,
    maxLifetimeSeconds:
      given.maxLifetimeSeconds === null ? defaultLifetimeSeconds : given.maxLifetimeSeconds,
    requireJti: given.requireJti === null ? true : given.requireJti,
  };
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'TrustedIssuer', id);
    const before = await tx.trustedIssuer.findUniqueOrThrow({ where: { id } });
    const after = patched(before, patch);
    assertConsistent(context, { ...after, claimRules: rulesOf(after) });
    await assertMayTrust(tx, context, after);
    // Whoever says which keys count answers for it, not whoever changes what else it says.
    const setterScopes =
      patch.jwksUri === undefined
        ? boundBy(context, before.setterScopes)
        : renewedBy(context, before.setterScopes);
    return recordChange(
      tx,
      context,
      trustedIssuers,
      before,
      { ...patch, setterScopes },
      changesBetween({ setterScopes: before.setterScopes }, { setterScopes }),
    );
  });
}

/**
 * Trusts an issuer no longer: its assertions are refused from now on, and the tokens that were issued for them. Raises
 * `TrustedIssuer.Deleted`.
 *
 * @returns The issuer in its last state.
 * @throws {NotFoundError}
 */
export async function deleteTrustedIssuer(
  context: Context,
  { id }: { id: string },
): Promise<TrustedIssuer> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'TrustedIssuer', id);
    const deleted = await tx.trustedIssuer.delete({ where: { id } });
    const now = context.clock.now().getTime();
    // Tokens name the issuer among what they came from, so those that are being issued at this moment end too.
    await tx.revokedToken.createMany({
      data: { jti: id, expiresAt: new Date(now + maxAccessTokenTtlSeconds * 1000) },
      skipDuplicates: true,
    });
    const told = await recordEvent(
      tx,
      context,
      'TrustedIssuer.Deleted',
      trustedIssuerRecord(deleted),
    );
    return told.with(deleted);
  });
}

const withDefaults = (given: Omit<z.output<typeof createInput>, 'id'>) => ({
  claimRules: given.claimRules ?? [],
  maxLifetimeSeconds: given.maxLifetimeSeconds ?? defaultLifetimeSeconds,
  requireJti: given.requireJti ?? true,
});

/** The claims by which an issuer tells nobody from anybody else: all its assertions for this service may have the same. */
const claimsOfAll: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);

type Values = Required<Omit<z.output<typeof createInput>, keyof ReturnType<typeof withDefaults>>> &
  ReturnType<typeof withDefaults>;

/** @throws {InvalidInputError} */
function assertConsistent({ issuer: here }: Context, values: Omit<Values, 'name'>): void {
  const { issuer, kind, claimRules } = values;
  const issues: InputIssue[] = [];
  const refuse = (path: string, message: string) => issues.push({ path: [path], message });
  // Nobody gets more by a token of ours than by an exchange of it.
  if (issuer === here) refuse('issuer', 'must be another one than this service');
  // Everybody who builds there could make such an assertion.
  if (kind === 'WORKLOAD' && claimRules.every(({ claim }) => claimsOfAll.has(claim)))
    refuse('claimRules', 'must say which workload of the issuer it is, such as its sub');
  if (kind === 'IDENTITY' && values.maxLifetimeSeconds > defaultLifetimeSeconds)
    refuse('maxLifetimeSeconds', `must be at most ${defaultLifetimeSeconds} for IDENTITY`);
  if (kind === 'IDENTITY' && !values.requireJti) refuse('requireJti', 'must be true for IDENTITY');
  if (issues.length > 0) throw new InvalidInputError(issues);
}

/** Checks that the application fits, and that the caller may let the issuer speak for it, or for people. */
async function assertMayTrust(
  tx: Transaction,
  context: Context,
  { kind, applicationId }: Pick<Values, 'kind' | 'applicationId'>,
): Promise<void> {
  assertNotBuiltIn(applicationId);
  await lockRow(tx, 'Application', applicationId);
  const { type, securityProfile } = await tx.application.findUniqueOrThrow({
    where: { id: applicationId },
  });
  if (kind === 'WORKLOAD' && type !== 'MACHINE_TO_MACHINE')
    throw new NotAllowedError(`Applications of type ${type} get no tokens for themselves.`);
  if (kind === 'WORKLOAD' && securityProfile === 'FAPI_2_0')
    throw new NotAllowedError('The application authenticates by its own keys alone.');
  // draft-ietf-oauth-identity-assertion-authz-grant §8.1
  if (kind === 'IDENTITY' && !isConfidential(type))
    throw new NotAllowedError(`Applications of type ${type} do not authenticate.`);
  // Whoever has the issuer's keys is the application.
  await assertMayBeApplication(tx, context, applicationId);
  await assertMayBeAnybody(tx, context, kind === 'IDENTITY');
}

/** @returns The faults of `jwksUri`: it needs https and a public address. */
async function faultsOfAddress(
  { config, resolveHost }: Pick<Context, 'config' | 'resolveHost'>,
  jwksUri: string | null | undefined,
): Promise<InputIssue[]> {
  const guard = { allowPrivate: config.allowPrivateWebhooks, resolveHost };
  return faultsOfTarget(jwksUri, ['jwksUri'], guard);
}
