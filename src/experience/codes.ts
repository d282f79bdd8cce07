import { mayProve } from '../auth/granting/prove.ts';
import { lockUsers } from '../db/lock.ts';
import { type Told, untold } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError, VerificationFailedError } from '../errors.ts';
import type { AddressType, InteractionEvent, User } from '../generated/prisma/client.ts';
import { assertNotElsewhere } from '../identity-providers/choice.ts';
import { canSend } from '../messages/queue-message.ts';
import type { MessageTemplate } from '../messages/templates/wording.ts';
import { type Failed, suspended, tryGuess } from '../protection/attempts.ts';
import {
  channelOf,
  findUserByAddress,
  identifierOf,
  methodsOf,
  readAddress,
  type SentCode,
  sendCodeWithin,
  sentCodeOf,
  takeCode,
} from '../proving/codes.ts';
import { guessAt } from '../proving/guesses.ts';
import type { InteractionAccess, Services, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { languageOf } from '../sign-in-experience/language.ts';
import { readSignInExperience, type SignInExperience } from '../sign-in-experience/settings.ts';
import {
  authenticate,
  changeInteraction,
  type Interaction,
  moveInteraction,
  readInteraction,
  throughAll,
  updateInteraction,
  type Verification,
} from './interaction.ts';
import { newcomerOf } from './steps.ts';

/** The purpose of a code, and the e-mail address or telephone number that it goes to. */
export interface CodeRequest {
  readonly purpose: InteractionEvent;
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
}

/**
 * Sends a code, or a message that says why there is none. The answer, the work and the number of
 * messages are the same whether or not the address has an account. Earlier codes stay valid, within one budget of
 * attempts.
 *
 * @throws {InvalidInputError} {@link RateLimitedError}, after which `Message.RateLimited` is raised once a window;
 *   {@link NotAllowedError} when the settings do not allow it, or the address is that of an identity provider; {@link
 *   InteractionExpiredError}
 */
export async function sendCode(
  context: VisitContext,
  access: InteractionAccess,
  { purpose, ...given }: CodeRequest,
): Promise<{ interaction: Interaction; verification: SentCode }> {
  const address = await readAddress(context, given);
  const settings = await readSignInExperience(context.database.prisma);
  await assertOffered(context, settings, purpose, address.type);
  const newcomer = newcomerOf(await readInteraction(context, access));
  await assertNotElsewhere(context.database.prisma, address.recipient, newcomer);
  const { interaction, sent } = await moveInteraction(context, access, async (tx, running) => {
    const owner = await findUserByAddress(tx, address);
    const template = templateFor(purpose, owner);
    const sent = await sendCodeWithin(tx, context, settings.codePolicy, {
      owner: { interactionId: running.id, purpose },
      address,
      holderId: owner?.id,
      action: purpose,
      template,
      language: languageOf(context, settings),
      contentOf: (id, code) =>
        template === purpose ? { code, ...linkTo(context, access, { id, purpose, code }) } : {},
    });
    if (!sent.allowed) return { interaction: running, sent };
    const named = { event: purpose, identifier: address.recipient };
    return { interaction: await updateInteraction(tx, running, named), sent };
  });
  return { interaction, verification: sentCodeOf(sent) };
}

/**
 * Checks a code. A code for signing in signs the person in. Other codes verify the address, and `register` or
 * `resetPassword` comes next. Raises `User.Data.Updated` if the address of the person was not verified.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} when the address is that of an identity
 *   provider; {@link InteractionExpiredError}
 */
export async function verifyCode(
  context: VisitContext,
  access: InteractionAccess,
  { verificationId, code }: { verificationId: string; code: string },
): Promise<Interaction> {
  const { prisma } = context.database;
  const running = await readInteraction(context, access);
  const verification = running.verifications.find(({ id }) => id === verificationId);
  if (!verification) throw new VerificationFailedError();
  // The company of the address may have connected its provider since the code was sent.
  await assertNotElsewhere(prisma, verification.recipient, newcomerOf(running));
  const user = await findUserByAddress(prisma, verification);
  const settings = await readSettingsInForce(prisma, user?.id);
  const guess = guessAt(context, 'CODE', identifierOf(verification), {
    userId: user?.id,
    applicationId: access.applicationId,
  });
  return tryGuess(context, settings, guess, () =>
    changeInteraction<Interaction | Failed>(context, access, async (tx, found) => {
      // A concurrent new password either waits until the code is used, or has voided it already.
      await lockUsers(tx, user ? [user.id] : []);
      const taken = await takeCode(tx, context, settings.codePolicy, verification, code);
      const { purpose } = verification;
      return taken ? proceed(tx, context, found, { ...taken, purpose }) : untold(null);
    }),
  );
}

/** Continues after a right code. It fails where the code can sign nobody in. */
async function proceed(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  verification: Verification,
): Promise<Told<Interaction | Failed>> {
  const { purpose, setterScopes: through } = verification;
  const owner = await findUserByAddress(tx, verification);
  // No code was sent for registering a taken address, or for recovering an account that does not exist.
  if (purpose !== 'REGISTER' && owner?.isSuspended) return untold(suspended);
  const settings = await readSettingsInForce(tx, owner?.id);
  const isUsable =
    isOffered(settings, purpose, verification.type) &&
    (purpose === 'REGISTER') === (owner === null);
  if (!isUsable || (owner && !(await mayProve(tx, throughAll(interaction, through), owner.id))))
    return untold(null);
  if (purpose === 'SIGN_IN' && owner) {
    const proof = {
      userId: owner.id,
      methods: methodsOf(verification),
      through,
      proved: verification,
    };
    return authenticate(tx, context, interaction, { ...proof, event: purpose });
  }
  const named = { event: purpose, identifier: verification.recipient };
  return untold(await updateInteraction(tx, interaction, named));
}

const isOffered = (
  settings: SignInExperience,
  purpose: InteractionEvent,
  type: AddressType,
): boolean =>
  ({
    SIGN_IN: settings.codeEnabled && settings.signInIdentifiers.includes(type),
    REGISTER: settings.signUpEnabled && settings.signUpIdentifiers.includes(type),
    RESET_PASSWORD: settings.passwordEnabled,
  })[purpose];

async function assertOffered(
  services: Services,
  settings: SignInExperience,
  purpose: InteractionEvent,
  type: AddressType,
): Promise<void> {
  if (!isOffered(settings, purpose, type) || !(await canSend(services, channelOf({ type }))))
    throw new NotAllowedError('Codes of this kind are not sent here.');
}

function templateFor(purpose: InteractionEvent, owner: User | null): MessageTemplate {
  if (purpose === 'REGISTER') return owner ? 'ACCOUNT_EXISTS' : 'REGISTER';
  return owner ? purpose : 'NO_ACCOUNT';
}

/**
 * The URL of the page for a link in a message. In the browser of the interaction the page fills in the code; in other
 * browsers it shows the code.
 */
function linkTo(
  { baseUrl }: Services,
  { uid }: InteractionAccess,
  { id, purpose, code }: { id: string; purpose: InteractionEvent; code: string },
): { link?: string } {
  if (uid === null || purpose === 'REGISTER') return {};
  return {
    link: `${baseUrl}/sign-in/${uid}/link?${new URLSearchParams({ v: id, code })}`,
  };
}
