import { readRightsOf } from '../auth/granting/holdings.ts';
import { covers, coversEverything } from '../auth/granting/setter-scopes.ts';
import { toNumericDate } from '../clock.ts';
import { InteractionExpiredError, NotAllowedError } from '../errors.ts';
import { newId } from '../ids.ts';
import { acrOf } from '../oidc/provider/assurance.ts';
import { finishInteraction, type Login } from '../oidc/provider/finish-interaction.ts';
import { findAuthorizationFault, issueCode } from '../oidc/provider/headless.ts';
import { getProvider } from '../oidc/provider/provider.ts';
import { countSignIn, writeSignIn } from '../oidc/provider/record-sign-in.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { linkNewcomer } from './federation/newcomer.ts';
import { changeInteraction, hasSession, type Interaction, readInteraction } from './interaction.ts';
import { headlessRequestOf } from './start.ts';
import { nextStepsOf } from './steps.ts';

/** A finished interaction. */
export interface Submitted {
  /** The next URL. In a browser it is the provider's, which redirects to the application. */
  readonly redirectTo: string;
  readonly userId: string;
}

/**
 * Ends an interaction of a person who has authenticated. Without a browser this is the sign-in and raises `PostSignIn`,
 * unless an account was created. In a browser the provider continues, and the sign-in happens when it has a session.
 *
 * @throws {NotAllowedError} when a step is missing; {@link InteractionExpiredError}
 */
export async function submitInteraction(
  context: VisitContext,
  access: InteractionAccess,
): Promise<Submitted> {
  const interaction = await readInteraction(context, access);
  const { userId, consentedAt } = interaction;
  if (userId === null) throw new NotAllowedError('Nobody has signed in yet.');
  await assertNothingMissing(context, interaction);
  await linkNewcomer(context, access, interaction);
  const redirectTo =
    access.uid === null
      ? await submitHeadless(context, access, interaction, loginOf(interaction))
      : await finishInteraction(getProvider(context), access.uid, {
          login: hasSession(interaction) ? null : loginOf(interaction),
          hasConsented: consentedAt !== null,
        });
  if (redirectTo === undefined) throw new InteractionExpiredError(interaction.restartUrl);
  return { redirectTo, userId };
}

async function assertNothingMissing(
  context: VisitContext,
  interaction: Interaction,
): Promise<void> {
  const settings = await readSettingsInForce(context.database.prisma, interaction.userId);
  const steps = await nextStepsOf(context, interaction, settings);
  if (!steps.includes('SUBMIT')) throw new NotAllowedError(`The next step is ${steps[0]}.`);
}

function loginOf({
  userId,
  authenticatedAt,
  authenticationMethods,
  hasRegistered,
}: Interaction): Login {
  if (userId === null || authenticatedAt === null)
    throw new NotAllowedError('Nobody has signed in yet.');
  return { userId, authenticatedAt, methods: authenticationMethods, isRegistration: hasRegistered };
}

async function submitHeadless(
  context: VisitContext,
  access: InteractionAccess,
  { applicationId, application, request: stored }: Interaction,
  login: Login,
): Promise<string> {
  const request = headlessRequestOf(stored);
  await assertStillAllowed(context, application, request);
  await assertCoveredBySetter(context, application, login.userId);
  await assertMember(context, login.userId, request.organizationId ?? null);
  const sessionId = newId('Session');
  const { sessionPolicy } = await readSettingsInForce(context.database.prisma, login.userId);
  // The provider's models use their own connections, which a transaction must not wait for. So the code is created
  // first; nobody learns it until the transaction has committed.
  const issued = await issueCode(context, applicationId, request, {
    ...login,
    authenticatedAt: toNumericDate(login.authenticatedAt),
    acr: acrOf(login.methods),
    amr: login.methods,
    sessionId,
    sessionTtlSeconds: Math.min(sessionPolicy.idleSeconds, sessionPolicy.maxSeconds),
  });
  try {
    await changeInteraction(context, access, async (tx, interaction) => {
      const { methods, ...current } = loginOf(interaction);
      const written =
        current.userId === login.userId &&
        (await writeSignIn(tx, context, sessionPolicy, {
          ...current,
          authenticationMethods: methods,
          applicationId,
          sessionId,
        }));
      if (!written) throw new InteractionExpiredError();
      await tx.interaction.updateMany({
        where: { id: interaction.id },
        data: { submittedAt: context.clock.now() },
      });
      return written;
    });
  } catch (error) {
    await issued.revoke();
    throw error;
  }
  countSignIn(context, login);
  const redirectTo = new URL(request.redirectUri);
  redirectTo.searchParams.set('code', issued.code);
  if (request.state != null) redirectTo.searchParams.set('state', request.state);
  redirectTo.searchParams.set('iss', context.issuer);
  return redirectTo.href;
}

// The permissions at the start may have been withdrawn since.
async function assertStillAllowed(
  context: VisitContext,
  application: Interaction['application'],
  request: ReturnType<typeof headlessRequestOf>,
): Promise<void> {
  const isAllowed =
    application.allowHeadlessSignIn &&
    !(await findAuthorizationFault(context, application.id, request));
  if (!isAllowed) throw new InteractionExpiredError();
}

/** Refuses a person with rights that the setter of the application lacks: the application sees the password or code. */
async function assertCoveredBySetter(
  { database }: VisitContext,
  { setterScopes }: Interaction['application'],
  userId: string,
): Promise<void> {
  if (coversEverything(setterScopes)) return;
  if (covers(setterScopes, await readRightsOf(database.prisma, [userId]))) return;
  throw new NotAllowedError('This person can sign in to this application only in a browser.');
}

async function assertMember(
  { database }: VisitContext,
  userId: string,
  organizationId: string | null,
): Promise<void> {
  if (organizationId === null) return;
  const membership = await database.prisma.organizationUser.findUnique({
    where: { organizationId_userId: { organizationId, userId } },
    select: { userId: true },
  });
  if (!membership) throw new NotAllowedError('This person is not a member of the organization.');
}
