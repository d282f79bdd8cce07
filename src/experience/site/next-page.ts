import { deviceCookie } from '../../protection/device.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import type { Answer } from '../../web/site.ts';
import { readInteraction } from '../interaction.ts';
import { findToReview } from '../review.ts';
import { type InteractionStep, nextStepsOf } from '../steps.ts';
import { submitInteraction } from '../submit.ts';
import type { InteractionPage, InteractionVisit } from './visit.ts';

/** The first page of each step that a known person can be asked for. */
const firstPages: Partial<Record<InteractionStep, string>> = {
  VERIFY_FACTOR: '/factor',
  ENROLL_FACTOR: '/enroll',
  CONSENT: '/consent',
};

/**
 * Leads a browser to the page of the next step. If no step is missing, submits the interaction and returns to the
 * application.
 *
 * @param isReviewed Whether the person has reviewed the account after a recovery.
 */
export async function leadOn(
  { context, access }: InteractionVisit,
  { isReviewed = false } = {},
): Promise<Answer> {
  const interaction = await readInteraction(context, access);
  if (interaction.userId === null) return { goTo: '' };
  // The visit may have begun before the person was known.
  const settings = await readSettingsInForce(context.database.prisma, interaction.userId);
  const steps = await nextStepsOf(context, interaction, settings);
  const [next] = steps.flatMap((step) => firstPages[step] ?? []);
  if (next !== undefined) return { goTo: next };
  if (!isReviewed && (await findToReview(context, interaction))) return { goTo: '/review' };
  const { redirectTo, userId } = await submitInteraction(context, access);
  const device = deviceCookie(context, context.visitor.cookies, userId);
  return { leaveTo: redirectTo, cookies: [device] };
}

/**
 * Whether a page belongs to the interaction as it is now. Once the person is known, only the pages of the next steps do:
 * the browser may be back at an earlier one by Back, a reload or a second tab.
 */
export async function isDue(visit: InteractionVisit, page: InteractionPage): Promise<boolean> {
  const { context, interaction, settings } = visit;
  const { step, isOpen } = page;
  if (interaction.userId === null) return step === undefined;
  if (isOpen?.(visit)) return true;
  return step !== undefined && (await nextStepsOf(context, interaction, settings)).includes(step);
}
