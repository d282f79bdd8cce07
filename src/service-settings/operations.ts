import { z } from 'zod';
import { assertMayMakeSigningKeys } from '../auth/granting/may-open.ts';
import { lockName } from '../db/lock.ts';
import { untold } from '../db/told.ts';
import { transaction } from '../db/transaction.ts';
import { compareVersion } from '../db/versions.ts';
import { changesBetween, recordEvent } from '../events/record.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { distinct, fault, mergeSettings, parseInput, text } from '../input.ts';
import type { Context } from '../services.ts';
import {
  dpopNonces,
  dynamicPolicies,
  metadataDocumentPolicies,
  readSettingsVersion,
  readStoredSettings,
  type ServiceSettings,
  settingsId,
  withDefaults,
} from './settings.ts';

/** The longest time between two signing keys that `signingKeyRotationDays` allows. */
export const maxRotationDays = 3650;

/** The most hosts of metadata documents. */
export const maxMetadataHosts = 100;

const hostName = text(253)
  .transform((value) => value.trim().toLowerCase())
  .refine(
    (value) =>
      URL.canParse(`https://${value}/`) &&
      new URL(`https://${value}/`).host === value &&
      !/[:/]|\.$/.test(value),
    fault('INVALID_FORMAT', 'must be a host name without a port, such as app.example.com'),
  );

const settingsInput = z.object({
  signingKeyRotationDays: z
    .number()
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(maxRotationDays, `must be at most ${maxRotationDays}`)
    .nullish(),
  clientRegistration: z
    .object({
      metadataDocuments: z.enum(metadataDocumentPolicies).nullish(),
      metadataHosts: distinct(hostName, maxMetadataHosts).nullish(),
      dynamic: z.enum(dynamicPolicies).nullish(),
    })
    .nullish(),
  dpopNonce: z.enum(dpopNonces).nullish(),
});

/** The input of `updateServiceSettings`: an absent field stays as it is; null restores its default. */
export type UpdateServiceSettingsInput = z.input<typeof settingsInput>;

/**
 * Changes settings of the service. Raises `ServiceSettings.Updated` if something changed.
 *
 * @throws {InvalidInputError}; {@link NotAllowedError} when signing keys would be made by themselves, for a caller who
 *   may not make them by hand.
 */
export async function updateServiceSettings(
  context: Context,
  input: UpdateServiceSettingsInput,
): Promise<ServiceSettings> {
  const patch = parseInput(settingsInput, input);
  return transaction(context.database, async (tx) => {
    // The second of two concurrent changes starts from the result of the first.
    await lockName(tx, 'signet:service-settings');
    compareVersion('ServiceSettings', await readSettingsVersion(tx));
    const stored = await readStoredSettings(tx);
    const settings = mergeSettings(stored, patch) as Prisma.InputJsonObject;
    const [before, after] = [withDefaults(stored), withDefaults(settings)];
    assertMayMakeSigningKeys(
      context,
      after.signingKeyRotationDays !== before.signingKeyRotationDays,
    );
    const changes = changesBetween(before, after);
    if (!changes) return untold(before);
    const row = { settings, updatedAt: context.clock.now() };
    await tx.serviceSettings.upsert({
      where: { id: settingsId },
      create: { id: settingsId, version: 2, ...row },
      update: row,
    });
    const told = await recordEvent(tx, context, 'ServiceSettings.Updated', { changes });
    return told.with(after);
  });
}
