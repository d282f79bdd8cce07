import { everything } from '../auth/granting/setter-scopes.ts';
import { untold } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import { InteractionExpiredError, NotAllowedError } from '../errors.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Holder } from '../proving/holder.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import {
  asPerson,
  authenticate,
  changeInteraction,
  type Interaction,
  isRecent,
  lockPerson,
  moveInteraction,
  readInteraction,
  updateInteraction,
} from './interaction.ts';
import { type GateContext, nextStepsOf, readNextSteps } from './steps.ts';

/** A visitor and the interaction that they have proved to be theirs. */
export interface Visiting {
  readonly context: VisitContext;
  readonly access: InteractionAccess;
}

/** The person who signs in, as the holder of what they prove there. A factor that was shown counts for this sign-in. */
export const interactionHolder = ({ context, access }: Visiting): Holder => ({
  id: access.id,
  applicationId: access.applicationId,
  context,
  findPerson: async () => findPerson(context, await readInteraction(context, access)),
  async readPerson(to) {
    const interaction = await readInteraction(context, access);
    if (to === 'SHOW') await assertDue(context, interaction);
    else await assertMayEnroll(context.database.prisma, context, interaction);
    const person = await findPerson(context, interaction);
    if (!person) throw new NotAllowedError('Nobody has signed in yet.');
    return person;
  },
  enroll: (work) =>
    changeInteraction(context, access, async (tx, interaction) => {
      const { id: userId } = await lockPerson(tx, interaction);
      await assertMayEnroll(tx, context, interaction);
      return work(tx, {
        userId,
        holder: interaction.id,
        language: context.visitor.language,
        context: asPerson(context, interaction, userId),
        recordShown: (methods) => recordFactor(tx, interaction, methods),
      });
    }),
  show: ({ userId, methods, isOnlyStep }, take) =>
    moveInteraction(context, access, async (tx, interaction) => {
      // A concurrent step may have signed in somebody else.
      if (interaction.userId !== (isOnlyStep ? null : userId)) return false;
      if (!isOnlyStep) await lockPerson(tx, interaction);
      if (!(await take(tx))) return false;
      if (!isOnlyStep) await recordFactor(tx, interaction, methods);
      else {
        await authenticate(tx, context, interaction, {
          userId,
          methods: [...methods, 'mfa'],
          event: 'SIGN_IN',
          through: everything,
          proved: null,
        });
      }
      return true;
    }),
});

async function findPerson(
  { database }: VisitContext,
  { userId, restartUrl }: Interaction,
): Promise<User | null> {
  if (userId === null) return null;
  const user = await database.prisma.user.findUnique({ where: { id: userId } });
  if (!user) throw new InteractionExpiredError(restartUrl);
  return user;
}

/** @throws {NotAllowedError} unless the person has to show a second factor now. */
async function assertDue(context: VisitContext, interaction: Interaction): Promise<void> {
  const settings = await readSettingsInForce(context.database.prisma, interaction.userId);
  const [step] = await nextStepsOf(context, interaction, settings);
  if (step !== 'VERIFY_FACTOR') throw new NotAllowedError(`The next step is ${step}.`);
}

/**
 * Asserts that the person may add a factor here: they have none, or have shown one. With a session alone, they must
 * have signed in recently: the factor that they had to show may have been deleted since.
 *
 * @throws {NotAllowedError} {@link InteractionExpiredError}
 */
async function assertMayEnroll(
  client: GateContext['client'],
  { clock }: Pick<VisitContext, 'clock'>,
  interaction: Interaction,
): Promise<void> {
  const { authenticatedAt, authenticationMethods, createdAt, restartUrl } = interaction;
  if (authenticationMethods.includes('mfa')) return;
  if (authenticatedAt && !isRecent(authenticatedAt, createdAt))
    throw new InteractionExpiredError(restartUrl);
  const settings = await readSettingsInForce(client, interaction.userId);
  // Where the person may sign in without a factor, they may also add one.
  const steps = await readNextSteps({ client, clock }, interaction, settings);
  if (steps.includes('VERIFY_FACTOR')) throw new NotAllowedError('The next step is VERIFY_FACTOR.');
}

/** Records that the person has shown a second factor. */
async function recordFactor(
  tx: Transaction,
  interaction: Interaction,
  methods: readonly string[],
): Promise<void> {
  await updateInteraction(tx, interaction, {
    authenticationMethods: [...new Set([...interaction.authenticationMethods, ...methods, 'mfa'])],
  });
}

/**
 * Declines to add a factor. It is not offered again.
 *
 * @throws {NotAllowedError} when one is required, or none is offered now; {@link InteractionExpiredError}
 */
export async function skipEnrollment(
  context: VisitContext,
  access: InteractionAccess,
): Promise<Interaction> {
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id } = await lockPerson(tx, interaction);
    const settings = await readSettingsInForce(tx, id);
    const steps = await readNextSteps({ client: tx, clock: context.clock }, interaction, settings);
    const isOffer =
      steps.includes('ENROLL_FACTOR') && steps.some((step) => step !== 'ENROLL_FACTOR');
    if (!isOffer) throw new NotAllowedError('There is no enrolment to skip.');
    await tx.user.update({ where: { id }, data: { enrollmentSkippedAt: context.clock.now() } });
    // It only keeps the offer from coming again.
    return untold(interaction);
  });
}
