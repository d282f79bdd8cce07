import { z } from 'zod';
import { assertMayBeAnybody, assertMayLetIn } from '../auth/granting/may-open.ts';
import {
  boundBy,
  everything,
  mayDoEverything,
  setterScopesOf,
} from '../auth/granting/setter-scopes.ts';
import { lockName } from '../db/lock.ts';
import { untold } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { compareVersion } from '../db/versions.ts';
import { InvalidInputError } from '../errors.ts';
import { changesBetween, recordEvent } from '../events/record.ts';
import { FactorType, type Prisma } from '../generated/prisma/client.ts';
import { mergeSettings, name, parseInput, text, webUrl } from '../input.ts';
import { languages } from '../languages.ts';
import type { Context } from '../services.ts';
import { isWeaker } from './in-force.ts';
import {
  factorPolicies,
  identifierTypes,
  type KeptSettings,
  readKeptSettings,
  readOpenerScopes,
  readSettingsVersion,
  type SignInExperience,
  settingsId,
  withDefaults,
} from './settings.ts';

const wholeNumber = (least: number, most: number) =>
  z
    .number()
    .int('must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`)
    .nullish();
const flag = z.boolean().nullish();
const oneOf = <Value extends string>(values: readonly Value[]) => z.enum(values).nullish();
const someOf = <Value extends string>(values: readonly Value[], least: number) =>
  z
    .array(z.enum(values))
    .min(least, 'must not be empty')
    .transform((items) => [...new Set(items)])
    .nullish();
const webAddress = webUrl.nullish();

const day = 24 * 60 * 60;

/** What `updateSignInExperience` takes. */
export const settingsInput = z.object({
  signUpEnabled: flag,
  signUpIdentifiers: someOf(identifierTypes, 1),
  signInIdentifiers: someOf(identifierTypes, 1),
  passwordEnabled: flag,
  codeEnabled: flag,
  passwordPolicy: z
    .object({
      // At least eight, and sixty-four must be possible (NIST SP 800-63B-4 §3.1.1.2).
      minLength: wholeNumber(8, 64),
      rejectCommon: flag,
      rejectUserData: flag,
      blocklist: z
        .array(name())
        .max(1000, 'must have at most 1000 entries')
        .transform((words) => [...new Set(words)])
        .nullish(),
    })
    .nullish(),
  codePolicy: z
    .object({
      // A code lives at most ten minutes (NIST SP 800-63B-4 §3.1.3.2).
      ttlSeconds: wholeNumber(1, 600),
      maxAttempts: wholeNumber(1, 100),
      sendLimit: wholeNumber(1, 100),
      sendWindowSeconds: wholeNumber(1, day),
    })
    .nullish(),
  lockoutPolicy: z
    .object({
      // At most a hundred (NIST SP 800-63B-4 §3.2.2).
      maxAttempts: wholeNumber(1, 100),
      windowSeconds: wholeNumber(1, day),
      lockSeconds: wholeNumber(1, day),
    })
    .nullish(),
  factors: someOf(Object.values(FactorType), 0),
  factorPolicy: oneOf(factorPolicies),
  sessionPolicy: z
    .object({ idleSeconds: wholeNumber(1, 365 * day), maxSeconds: wholeNumber(1, 365 * day) })
    .nullish(),
  branding: z
    .object({
      productName: name(64).nullish(),
      logoUrl: webAddress,
      primaryColor: text(7)
        .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #1d4ed8')
        .nullish(),
      termsUrl: webAddress,
      privacyUrl: webAddress,
    })
    .nullish(),
  defaultLanguage: oneOf(languages),
});

/** The input of `updateSignInExperience`: an absent field stays as it is; null restores its default. */
export type UpdateSignInExperienceInput = z.input<typeof settingsInput>;

/**
 * Changes how people sign up and sign in. In a group, such as `passwordPolicy`, only the given fields change. Raises
 * `SignInExperience.Updated` if something changed.
 *
 * @throws {InvalidInputError}; {@link NotAllowedError} when it becomes easier to sign in as a person who holds more than
 *   the caller.
 */
export async function updateSignInExperience(
  context: Context,
  input: UpdateSignInExperienceInput,
): Promise<SignInExperience> {
  const patch = parseInput(settingsInput, input);
  return transaction(context.database, async (tx) => {
    // The second of two concurrent changes starts from the result of the first.
    await lockName(tx, 'signet:sign-in-experience');
    compareVersion('SignInExperience', await readSettingsVersion(tx));
    const kept = await readKeptSettings(tx);
    const { stored } = kept;
    const settings = mergeSettings(stored, patch) as Prisma.InputJsonObject;
    assertCanEnroll(withDefaults(settings), patch);
    const [before, after] = [withDefaults(stored), withDefaults(settings)];
    await assertMayBeAnybody(tx, context, isWeaker(after, before));
    await assertMayLetIn(tx, context, after.signUpEnabled && !before.signUpEnabled);
    const setterScopes = await keepOpener(tx, context, patch.signUpEnabled, before);
    // A caller with `all` answers for what it gives.
    const vouchedSettings = (
      mayDoEverything(context) ? mergeSettings(kept.vouched, patch) : kept.vouched
    ) as Prisma.InputJsonObject;
    const [vouchedBefore, vouched] = [withDefaults(kept.vouched), withDefaults(vouchedSettings)];
    const weakenerScopes = weakenerScopesOf(context, kept, { after, vouched });
    // A caller with `all` may only renew who opened the sign-up, or made something weaker.
    const changes =
      changesBetween(before, after) ??
      changesBetween(
        {
          setterScopes: [...(await readOpenerScopes(tx))],
          vouchedSettings: vouchedBefore,
        },
        { setterScopes, vouchedSettings: vouched },
      );
    if (!changes) return untold(before);
    const row = {
      settings,
      setterScopes,
      vouchedSettings,
      weakenerScopes,
      updatedAt: context.clock.now(),
    };
    await tx.signInExperience.upsert({
      where: { id: settingsId },
      create: { id: settingsId, version: 2, ...row },
      update: row,
    });
    const told = await recordEvent(tx, context, 'SignInExperience.Updated', { changes });
    return told.with(after);
  });
}

/**
 * What is kept of who opened the sign-up; nothing bounds it while it is closed. A caller with `all` renews it by opening
 * it again.
 */
async function keepOpener(
  tx: Transaction,
  context: Context,
  signUpEnabled: boolean | null | undefined,
  before: SignInExperience,
): Promise<string[]> {
  const opener = setterScopesOf(context);
  if (signUpEnabled === undefined) return [...(await readOpenerScopes(tx))];
  if (signUpEnabled === false) return [...everything];
  return before.signUpEnabled && !mayDoEverything(context)
    ? [...(await readOpenerScopes(tx))]
    : opener;
}

/** What everybody held who made the settings weaker than callers with `all` left them: everything, if nobody did. */
function weakenerScopesOf(
  context: Context,
  kept: KeptSettings,
  { after, vouched }: { readonly after: SignInExperience; readonly vouched: SignInExperience },
): string[] {
  if (!isWeaker(after, vouched)) return [...everything];
  return isWeaker(after, withDefaults(kept.stored))
    ? boundBy(context, kept.weakenerScopes)
    : [...kept.weakenerScopes];
}

/** @throws {InvalidInputError} when everybody would need a second factor and nobody could add one. */
function assertCanEnroll(
  { factors, factorPolicy }: SignInExperience,
  patch: { readonly factors?: unknown },
): void {
  if (factorPolicy !== 'REQUIRED' || factors.length > 0) return;
  throw new InvalidInputError([
    patch.factors === undefined
      ? { path: ['factorPolicy'], message: 'needs at least one of `factors` to be offered' }
      : { path: ['factors'], message: 'must not be empty while `factorPolicy` is REQUIRED' },
  ]);
}
