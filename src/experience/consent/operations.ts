import { untold } from '../../db/told.ts';
import { InteractionExpiredError, InvalidInputError, NotAllowedError } from '../../errors.ts';
import { namesOf } from '../../oidc/consent/asked.ts';
import { recordConsent } from '../../oidc/consent/operations.ts';
import { cancelInteraction } from '../../oidc/provider/finish-interaction.ts';
import { getProvider } from '../../oidc/provider/provider.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import {
  asPerson,
  changeInteraction,
  type Interaction,
  readInteraction,
  updateInteraction,
} from '../interaction.ts';
import { readNextSteps } from '../steps.ts';
import { consentRequestOf, findConsent } from './gate.ts';

/**
 * Allows the application what it asks for. A second call changes nothing. Raises `User.Grant.Created` if it is allowed
 * more than before.
 *
 * @param input.scopes The names that the person was shown. If others are asked now, nothing is allowed.
 * @throws {InvalidInputError} on `scopes`; {@link NotAllowedError} when another step comes first; {@link
 *   InteractionExpiredError}
 */
export async function grantConsent(
  context: VisitContext,
  access: InteractionAccess,
  { scopes: shown }: { readonly scopes?: readonly string[] | null | undefined },
): Promise<Interaction> {
  return changeInteraction(context, access, async (tx, interaction) => {
    const { clock } = context;
    const settings = await readSettingsInForce(tx, interaction.userId);
    const steps = await readNextSteps({ client: tx, clock }, interaction, settings);
    if (steps.includes('SUBMIT')) return untold(interaction);
    const request = consentRequestOf(interaction);
    const consent = steps.includes('CONSENT') ? await findConsent(tx, interaction) : null;
    if (!request || !consent) throw new NotAllowedError(`The next step is ${steps[0]}.`);
    if (shown != null && !isSame(shown, namesOf(consent))) {
      const message = 'are not the scopes that the application asks for now';
      throw new InvalidInputError([{ path: ['scopes'], message }]);
    }
    const person = asPerson(context, interaction, request.userId);
    const told = await recordConsent(tx, person, request, consent);
    return told.with(await updateInteraction(tx, interaction, { consentedAt: clock.now() }));
  });
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  JSON.stringify([...some].sort()) === JSON.stringify([...others].sort());

/**
 * Refuses the application what it asks for.
 *
 * @returns The URL that leads back to the application, with the error `access_denied` (RFC 6749 §4.1.2.1).
 * @throws {NotAllowedError} without a browser; {@link InteractionExpiredError}
 */
export async function denyConsent(
  context: VisitContext,
  access: InteractionAccess,
): Promise<string> {
  const { restartUrl } = await readInteraction(context, access);
  if (access.uid === null) throw new NotAllowedError('Nothing is asked.');
  const description = 'the person did not allow it';
  const redirectTo = await cancelInteraction(getProvider(context), access.uid, description);
  if (redirectTo === undefined) throw new InteractionExpiredError(restartUrl);
  return redirectTo;
}
