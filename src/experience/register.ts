import { z } from 'zod';
import { everything, inCommon } from '../auth/granting/setter-scopes.ts';
import { type Conflicts, refuseConflict } from '../db/conflict.ts';
import type { Told } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import type { UserFields } from '../db/user-row.ts';
import {
  type InputIssue,
  InvalidInputError,
  NotAllowedError,
  PasswordRejectedError,
  VerificationFailedError,
} from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { assertNotElsewhere } from '../identity-providers/choice.ts';
import { newId } from '../ids.ts';
import { distinct, name, parseInput } from '../input.ts';
import { joinJustInTime } from '../organizations/just-in-time.ts';
import { methodsOf } from '../proving/codes.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import {
  readOpenerScopes,
  readSignInExperience,
  type SignInExperience,
} from '../sign-in-experience/settings.ts';
import { userConflicts, username, userProfile } from '../users/fields.ts';
import { hashQueue } from '../users/hash-queue.ts';
import { insertUser } from '../users/operations.ts';
import { currentPasswordAlgorithm, hashPassword } from '../users/password.ts';
import { rejections } from '../users/password-policy.ts';
import { userRecord } from '../users/payload.ts';
import {
  asPerson,
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
  throughAll,
  type Verification,
} from './interaction.ts';
import { newcomerOf, verified } from './steps.ts';

const input = z.object({
  username: username.nullish(),
  verificationIds: distinct(z.string(), 10).nullish(),
  password: z.string().nullish(),
  profile: userProfile.pipe(z.looseObject({ name: name().nullish() })).nullish(),
});

/** The input of `register`. */
export type RegisterInput = z.input<typeof input>;

type Registration = z.output<typeof input>;

const conflicts: Conflicts = {
  ...userConflicts,
  // The person has verified the address, so they may learn that it is taken.
  User_primaryEmail_key: { ...userConflicts.User_primaryEmail_key, path: ['verificationIds'] },
  User_primaryPhone_key: { ...userConflicts.User_primaryPhone_key, path: ['verificationIds'] },
};

/**
 * Creates an account from the verified addresses of the interaction, with default roles and just-in-time memberships,
 * and signs the person in. Raises `User.Created`, `PostRegister`, and `Organization.Membership.Updated` for each
 * membership.
 *
 * @throws {NotAllowedError} when registration is closed, the interaction has an account, or an address is that of an
 *   identity provider;
 *   {@link InvalidInputError} {@link VerificationFailedError} {@link PasswordRejectedError}
 *   {@link ConflictError} {@link InteractionExpiredError} {@link HashingBusy}
 */
export async function register(
  context: VisitContext,
  access: InteractionAccess,
  given: RegisterInput,
): Promise<Interaction> {
  const asked = parseInput(input, given);
  hashQueue.assertRoom();
  const settings = await readSignInExperience(context.database.prisma);
  if (!settings.signUpEnabled) throw new NotAllowedError('Nobody can register here.');
  const running = await readInteraction(context, access);
  const addresses = verifiedAddresses(context, running, asked);
  for (const { recipient } of addresses)
    await assertNotElsewhere(context.database.prisma, recipient, newcomerOf(running));
  assertComplete(settings, asked, addresses);
  const values = valuesOf(asked, addresses);
  const digest = await digestOf(context, settings, asked, values);
  return refuseConflict(conflicts, () =>
    changeInteraction(context, access, async (tx, interaction) => {
      // A concurrent request may have used up the verifications.
      const shown = verifiedAddresses(context, interaction, asked);
      const setterScopes = inCommon(everything, ...shown.map((one) => one.setterScopes));
      const account = { ...values, ...digest, setterScopes };
      const created = await createAccount(tx, context, interaction, account);
      const { result: known } = await authenticate(tx, context, interaction, {
        userId: created.result.id,
        methods: asked.password == null ? addresses.flatMap(methodsOf).slice(0, 1) : ['pwd'],
        event: 'REGISTER',
        hasRegistered: true,
        through: everything,
        proved: null,
      });
      return created.with(known);
    }),
  );
}

/** Writes a new account, with its default roles and memberships, and records `PostRegister`. */
export async function createAccount(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  values: UserFields & Pick<User, 'setterScopes'>,
): Promise<Told<User>> {
  const id = newId('User');
  const person = asPerson(context, interaction, id);
  const through = throughAll(interaction, values.setterScopes);
  const setterScopes = inCommon(through, await readOpenerScopes(tx));
  const { result: user } = await insertUser(tx, person, { ...values, id, setterScopes });
  const { ip, userAgent } = context;
  const told = await recordEvent(tx, person, 'PostRegister', {
    user: userRecord(user),
    applicationId: interaction.applicationId,
    ip,
    userAgent,
    sessionId: null,
  });
  if (user.primaryEmail !== null && user.isEmailVerified)
    await joinJustInTime(tx, person, { userId: id, email: user.primaryEmail });
  return told.with(user);
}

/** The verified addresses for the new account, at most one of each type. */
function verifiedAddresses(
  context: VisitContext,
  interaction: Interaction,
  { verificationIds }: Registration,
): Verification[] {
  if (interaction.userId !== null) throw new NotAllowedError('This interaction has an account.');
  const shown = verified(context, interaction, 'REGISTER');
  const wanted = verificationIds ? shown.filter(({ id }) => verificationIds.includes(id)) : shown;
  if (wanted.length < (verificationIds?.length ?? 0)) throw new VerificationFailedError();
  // Of two e-mail addresses, the one verified last.
  return [...new Map(wanted.map((one) => [one.type, one])).values()];
}

/** @throws {InvalidInputError} with everything that is missing or not accepted. */
function assertComplete(
  settings: SignInExperience,
  { username: named, password }: Registration,
  addresses: readonly Verification[],
): void {
  const { signUpIdentifiers, passwordEnabled, codeEnabled } = settings;
  const has = (type: SignInExperience['signUpIdentifiers'][number]) =>
    type === 'USERNAME' ? named != null : addresses.some((address) => address.type === type);
  const [required] = signUpIdentifiers;
  const canUseCode = codeEnabled && addresses.length > 0;
  const issues: (InputIssue | false)[] = [
    named != null &&
      !signUpIdentifiers.includes('USERNAME') && {
        path: ['username'],
        message: 'is not asked for here',
      },
    required !== undefined &&
      !has(required) && {
        path: [required === 'USERNAME' ? 'username' : 'verificationIds'],
        message: requirement[required],
      },
    password != null && !passwordEnabled && { path: ['password'], message: 'is not used here' },
    password == null &&
      passwordEnabled &&
      !canUseCode && { path: ['password'], message: 'must be given' },
    !passwordEnabled &&
      !canUseCode && {
        path: ['verificationIds'],
        message: 'must have an address that was shown to be held, to sign in with',
      },
  ];
  const found = issues.filter((issue) => issue !== false);
  if (found.length > 0) throw new InvalidInputError(found);
}

const requirement = {
  USERNAME: 'must be given',
  EMAIL: 'must have an e-mail address that was shown to be held',
  PHONE: 'must have a telephone number that was shown to be held',
};

function valuesOf({ username: named, profile }: Registration, addresses: readonly Verification[]) {
  const addressOf = (type: Verification['type']) =>
    addresses.find((address) => address.type === type)?.recipient ?? null;
  const { name: givenName = null, ...claims } = profile ?? {};
  const [primaryEmail, primaryPhone] = [addressOf('EMAIL'), addressOf('PHONE')];
  return {
    username: named ?? null,
    name: givenName,
    primaryEmail,
    primaryPhone,
    isEmailVerified: primaryEmail !== null,
    isPhoneVerified: primaryPhone !== null,
    profile: claims as Prisma.InputJsonObject,
  };
}

async function digestOf(
  context: VisitContext,
  { passwordPolicy, branding }: SignInExperience,
  { password }: Registration,
  values: ReturnType<typeof valuesOf>,
) {
  if (password == null) return {};
  const subject = { ...values, productName: branding.productName };
  const reasons = rejections(passwordPolicy, password, subject);
  if (reasons.length > 0) throw new PasswordRejectedError(reasons);
  // Hashing takes longer than all the rest, so it must not hold a connection.
  const passwordDigest = await hashPassword(context, password);
  return { passwordDigest, passwordAlgorithm: currentPasswordAlgorithm };
}
