import { Secret, TOTP } from 'otpauth';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { type Told, untold } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import type { User, UserFactor } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { name, parseInput } from '../input.ts';
import { purposeOf } from '../keys/sealed-columns.ts';
import type { Language } from '../languages.ts';
import type { Context, Services } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { withoutSeparators } from '../text/typed.ts';
import { changeFactors } from './change.ts';
import { assertOffered } from './policy.ts';

const stepMs = 30_000;
const enrollmentTtlMs = 60 * 60 * 1000;
const maxApps = 5;

/** Who adds an authenticator app, and where. Only the last enrolment of a holder can be confirmed. */
export interface Enrolling {
  readonly userId: string;
  /** The interaction's id, or that of a signed-in person's session. */
  readonly holder: string;
}

/** A new authenticator app, as the person sees it. */
export interface ShownTotp {
  /** In Base32, to type in. */
  readonly secret: string;
  /** `otpauth://totp/…`, which an authenticator app opens. */
  readonly uri: string;
  /** The URI as a QR code. */
  readonly qrCodeSvg: string;
}

/**
 * Begins to add an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds, a secret of 160 bits). For the same
 * holder it shows the same secret again within an hour, so that a reload or a second tab changes nothing.
 *
 * @throws {NotAllowedError} when the settings do not offer it, or the person has five.
 */
export async function beginTotp(
  tx: Transaction,
  context: Pick<Services, 'cipher' | 'clock'>,
  { userId, holder }: Enrolling,
): Promise<ShownTotp> {
  const { branding, ...settings } = await readSettingsInForce(tx, userId);
  assertOffered(settings, 'TOTP');
  if ((await tx.userFactor.count({ where: { userId, type: 'TOTP' } })) >= maxApps)
    throw new NotAllowedError('There are five authenticator apps already.');
  const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
  const secret = await keepSecret(tx, context, { userId, holder });
  const uri = uriOf(branding.productName, labelOf(user), secret);
  return { secret, uri, qrCodeSvg: renderSVG(uri, { ecc: 'M', border: 4 }) };
}

// The label is issuer and account with a colon between. Apps decode it before they split it, some at the first colon and
// some at the last, so no encoding hides another one.
function uriOf(issuer: string, account: string, secret: string): string {
  const plain = (text: string) => text.replaceAll(/:\s*/g, ' ');
  const uri = new TOTP({ issuer, issuerInLabel: false, label: plain(account), secret }).toString();
  return uri.replace('/totp/', `/totp/${encodeURIComponent(plain(issuer))}:`);
}

const labelOf = ({ primaryEmail, username, primaryPhone, id }: User): string =>
  primaryEmail ?? username ?? primaryPhone ?? id;

async function keepSecret(
  tx: Transaction,
  { cipher, clock }: Pick<Services, 'cipher' | 'clock'>,
  enrolling: Enrolling,
): Promise<string> {
  const known = await findSecret(tx, { cipher, clock }, enrolling);
  if (known !== null) return known;
  const { holder, userId } = enrolling;
  const secret = new Secret({ size: 20 }).base32;
  const row = {
    userId,
    secret: cipher.encrypt(secret, enrollmentPurpose(enrolling)),
    expiresAt: new Date(clock.now().getTime() + enrollmentTtlMs),
  };
  await tx.totpEnrollment.upsert({
    where: { holder },
    create: { holder, ...row },
    update: row,
  });
  return secret;
}

/** The secret of an enrolment that has begun; null if there is none. */
async function findSecret(
  tx: Transaction,
  { cipher, clock }: Pick<Services, 'cipher' | 'clock'>,
  enrolling: Enrolling,
): Promise<string | null> {
  const found = await tx.totpEnrollment.findFirst({
    where: { ...enrolling, expiresAt: { gt: clock.now() } },
  });
  return found && cipher.decrypt(found.secret, enrollmentPurpose(enrolling));
}

const enrollmentPurpose = ({ holder, userId }: Enrolling) =>
  purposeOf('totp-enrollment', `${holder}:${userId}`);
const factorPurpose = (id: string) => purposeOf('totp', id);

const confirmInput = z.object({ code: z.string(), name: name().nullish() });

/** The input of `confirmTotp`. */
export type ConfirmTotpInput = z.input<typeof confirmInput>;

/**
 * Adds the authenticator app of {@link beginTotp} if the code is right, and uses the code up. Raises
 * `User.Data.Updated` and `User.Credential.Updated`.
 *
 * @returns The factor; null for a wrong code, or when this holder began nothing.
 * @throws {InvalidInputError} {@link NotAllowedError} when the settings no longer offer it.
 */
export async function confirmTotp(
  tx: Transaction,
  context: Context,
  enrolling: Enrolling & { readonly language?: Language | undefined },
  input: ConfirmTotpInput,
): Promise<Told<UserFactor | null>> {
  const { code, name: shown = null } = parseInput(confirmInput, input);
  const { userId, holder, language } = enrolling;
  const secret = await findSecret(tx, context, { userId, holder });
  if (secret === null) return untold(null);
  const now = context.clock.now();
  const step = stepOf(secret, code, now);
  if (step === null) return untold(null);
  assertOffered(await readSettingsInForce(tx, userId), 'TOTP');
  // Whoever deletes the row adds the factor: two concurrent requests add one.
  const { count } = await tx.totpEnrollment.deleteMany({ where: { holder, userId } });
  if (count === 0) return untold(null);
  return changeFactors(tx, context, { userId, language, notice: 'FACTOR_ADDED' }, () => {
    const id = newId('UserFactor');
    return tx.userFactor.create({
      data: {
        id,
        userId,
        type: 'TOTP',
        name: shown,
        secret: context.cipher.encrypt(secret, factorPurpose(id)),
        lastStep: BigInt(step),
        createdAt: now,
        lastUsedAt: now,
      },
    });
  });
}

/**
 * Uses up a code of one of the person's authenticator apps. It is right for the current time step, the one before and
 * the one after; a step that was used, or an earlier one, is refused (RFC 6238 §5.2). Count guesses before you call it.
 *
 * @returns Whether it was right. Of concurrent calls with one code, one gets true.
 */
export async function takeTotp(
  tx: Transaction,
  { cipher, clock }: Pick<Services, 'cipher' | 'clock'>,
  userId: string,
  code: string,
): Promise<boolean> {
  const now = clock.now();
  const factors = await tx.userFactor.findMany({ where: { userId, type: 'TOTP' } });
  for (const { id, secret } of factors) {
    if (secret === null) continue;
    const step = stepOf(cipher.decrypt(secret, factorPurpose(id)), code, now);
    if (step === null) continue;
    const { count } = await tx.userFactor.updateMany({
      where: { id, OR: [{ lastStep: null }, { lastStep: { lt: step } }] },
      data: { lastStep: BigInt(step), lastUsedAt: now },
    });
    if (count === 1) return true;
  }
  return false;
}

/** The time step of a code; null if the code is wrong for every step near now. */
function stepOf(secret: string, typed: string, now: Date): number | null {
  const token = withoutSeparators(typed);
  if (!/^\d{6}$/.test(token)) return null;
  const timestamp = now.getTime();
  const delta = new TOTP({ secret }).validate({ token, timestamp, window: 1 });
  return delta === null ? null : Math.floor(timestamp / stepMs) + delta;
}
