import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type Interaction as ProviderInteraction } from 'oidc-provider';
import { InteractionExpiredError } from '../../errors.ts';
import { readFactorState } from '../../factors/policy.ts';
import { newId } from '../../ids.ts';
import { digestOf } from '../../keys/digest.ts';
import { asksSecondFactor, findStepUp } from '../../oidc/provider/assurance.ts';
import { getProvider } from '../../oidc/provider/provider.ts';
import { interactionTtlSeconds } from '../../oidc/provider/storage/grant-lifetime.ts';
import type { InteractionAccess, Services } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import { isRecent } from '../interaction.ts';

/** The interaction of a browser, and the provider's authorization request that it is for. */
export interface BrowserInteraction {
  readonly access: InteractionAccess;
  readonly request: ProviderInteraction;
}

/**
 * Finds the interaction that a browser's cookie proves. The cookie is the provider's own. The sign-in page of an
 * interaction gets the cookie of that interaction; the Experience API gets the cookie of the newest one.
 *
 * @returns Undefined without such a cookie; an error with the way to begin again if the interaction is over.
 */
export async function findBrowserInteraction(
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<BrowserInteraction | InteractionExpiredError | undefined> {
  const provider = getProvider(services);
  try {
    const found = await provider.interactionDetails(request, response);
    const access = await adopt(services, found);
    return access ? { access, request: found } : new InteractionExpiredError();
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
  }
  const uid = provider
    .createContext(request, response)
    .cookies.get(provider.cookieName('interaction'), { signed: true });
  if (uid === undefined) return undefined;
  return new InteractionExpiredError((await findByAddress(services, uid))?.restartUrl);
}

/** The facts of an interaction that a browser learns from its address alone, without the cookie. */
export interface AddressedInteraction {
  /** The URL that repeats the authorization request. It holds no secret. */
  readonly restartUrl: string | null;
  /** Whether the browser that began the interaction can still continue it. */
  readonly isUnderWay: boolean;
}

/**
 * Finds an interaction by the address of its pages, for a browser without the cookie. The cookie ends with the
 * interaction.
 *
 * @returns Null if there never was such an interaction, it ended long ago, or its application is gone.
 */
export async function findByAddress(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  uid: string,
): Promise<AddressedInteraction | null> {
  const known = await database.prisma.interaction.findUnique({
    where: { digest: digestOf(uid) },
    select: { restartUrl: true, expiresAt: true, userId: true },
  });
  return (
    known && {
      restartUrl: known.restartUrl,
      isUnderWay: known.userId === null && known.expiresAt > clock.now(),
    }
  );
}

/**
 * Finds the row of an interaction that the provider began, or creates it.
 *
 * @returns Undefined if the application is gone.
 */
async function adopt(
  services: Services,
  provided: ProviderInteraction,
): Promise<InteractionAccess | undefined> {
  const { database, clock } = services;
  const { uid, params, prompt, session } = provided;
  const digest = digestOf(uid);
  const select = { id: true, applicationId: true } as const;
  const { interaction } = database.prisma;
  const known = await interaction.findUnique({ where: { digest }, select });
  if (known) return { ...known, uid };
  const applicationId = String(params['client_id']);
  if (
    !(await database.prisma.application.findUnique({
      where: { id: applicationId },
      select: { id: true },
    }))
  )
    return undefined;
  const now = clock.now();
  const identified = await readStepUp(services, provided);
  await interaction.createMany({
    data: {
      id: newId('Interaction'),
      digest,
      applicationId,
      event: params['screen_hint'] === 'register' ? 'REGISTER' : 'SIGN_IN',
      restartUrl: restartUrlOf(services, provided),
      needsSecondFactor: asksSecondFactor(params['acr_values']),
      // Only a person with a session is asked for consent alone.
      userId: prompt.name === 'consent' ? (session?.accountId ?? null) : null,
      ...identified,
      createdAt: now,
      // Measured from this first visit. The provider's own interaction may end earlier.
      expiresAt: new Date(now.getTime() + interactionTtlSeconds * 1000),
    },
    // A concurrent request may have created it.
    skipDuplicates: true,
  });
  return { ...(await interaction.findUniqueOrThrow({ where: { digest }, select })), uid };
}

/**
 * The person who is signed in already and is only asked for the second factor. Without a factor to show, they must have
 * signed in recently: a stolen session cookie must not be enough to add one.
 */
async function readStepUp(services: Services, provided: ProviderInteraction) {
  const { prisma } = services.database;
  const signedIn = await findStepUp(getProvider(services), provided);
  if (!signedIn) return {};
  const { userId, authenticatedAt, methods } = signedIn;
  if (!(await prisma.user.findUnique({ where: { id: userId } }))) return {};
  const { usable } = await readFactorState(
    prisma,
    await readSettingsInForce(prisma, userId),
    userId,
  );
  if (usable.length === 0 && !isRecent(authenticatedAt, services.clock.now())) return {};
  return { userId, authenticatedAt, authenticationMethods: [...methods] };
}

/**
 * The URL that repeats the authorization request. The application accepts its answer like the first one. For a device it
 * is that of the page for codes: the device shows a new one.
 */
function restartUrlOf(
  { issuer, baseUrl }: Pick<Services, 'issuer' | 'baseUrl'>,
  { params, deviceCode }: ProviderInteraction,
): string {
  const url = new URL(deviceCode === undefined ? `${issuer}/auth` : `${baseUrl}/device`);
  for (const [name, value] of Object.entries(params)) {
    // A one-time token works once, and this value was encrypted for this request.
    if (name === 'one_time_token') continue;
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) url.searchParams.append(name, String(one));
    }
  }
  return url.href;
}
