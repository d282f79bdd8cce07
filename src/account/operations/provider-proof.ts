import { mayProve } from '../../auth/granting/prove.ts';
import { NotAllowedError, NotFoundError, VerificationFailedError } from '../../errors.ts';
import { endOrExplain } from '../../experience/federation/finish.ts';
import { beginOrRefuse, getProviderById } from '../../experience/federation/start.ts';
import { proofPrefix } from '../../experience/federation/viewer.ts';
import { holdEnabled } from '../../identity-providers/choice.ts';
import { beginFederation } from '../../identity-providers/federation.ts';
import { reportFailedSignIn } from '../../protection/refusals/failed-sign-in.ts';
import type { ViewerContext } from '../../services.ts';
import { listProvingProviders, proofTtlSeconds, rememberProof } from './proof.ts';
import { changeViewer } from './viewer.ts';

/**
 * Sends the person to an identity provider to sign in there again. See {@link finishProviderProof}.
 *
 * @returns The URL to open in the person's browser.
 * @throws {NotAllowedError} when the provider does not answer, or is not one of {@link listProvingProviders}.
 */
export async function startProviderProof(
  context: ViewerContext,
  { identityProviderId }: { identityProviderId: string },
): Promise<{ url: string }> {
  const providers = await listProvingProviders(context);
  if (!providers.some(({ id }) => id === identityProviderId))
    throw new NotAllowedError('The person cannot prove it there.');
  const provider = await getProviderById(context, identityProviderId).catch((error: unknown) => {
    throw error instanceof NotFoundError ? new NotAllowedError('It is disabled.') : error;
  });
  const { userId, clientId } = context.viewer;
  const { language } = context.visitor;
  const options = { prefix: proofPrefix, isFresh: true, language };
  const url = await beginOrRefuse(context, provider, () =>
    beginFederation(context, provider, { userId, clientId }, options),
  );
  return { url };
}

/**
 * Proves who the person is by a sign-in at an identity provider. It counts for the session that came back, whichever
 * one began it: nobody gets a proof by sending somebody else a link.
 *
 * @returns Until when the proof counts.
 * @throws {VerificationFailedError} unless it was a new sign-in of a linked identity.
 */
export async function finishProviderProof(
  context: ViewerContext,
  response: URLSearchParams,
): Promise<Date> {
  try {
    return await takeProviderProof(context, response);
  } catch (error) {
    if (error instanceof VerificationFailedError) {
      const { userId, clientId: applicationId } = context.viewer;
      const failed = { identifierType: null, userId, applicationId } as const;
      reportFailedSignIn(context, { ...failed, method: 'PROVIDER', reason: 'PROVIDER' });
    }
    throw error;
  }
}

async function takeProviderProof(context: ViewerContext, response: URLSearchParams): Promise<Date> {
  const { userId } = context.viewer;
  // One that was begun to link an identity proves nothing.
  if (!response.get('state')?.startsWith(`${proofPrefix}.`)) throw new VerificationFailedError();
  const returned = await endOrExplain(context, { userId }, response);
  if (typeof returned === 'string') throw new VerificationFailedError();
  const { provider, claims } = returned;
  const { issuer, subject, authenticatedAt } = claims;
  const oldest = context.clock.now().getTime() - proofTtlSeconds * 1000;
  // Not every provider sends `auth_time`.
  if (authenticatedAt !== null && authenticatedAt.getTime() < oldest)
    throw new VerificationFailedError();
  return changeViewer(context, async (tx) => {
    const linked = await tx.userIdentity.findUnique({
      where: { issuer_subject: { issuer, subject } },
      select: { userId: true },
    });
    const setterScopes = await holdEnabled(tx, { identityProviderId: provider.id, issuer });
    const isProof =
      linked?.userId === userId && setterScopes && (await mayProve(tx, setterScopes, userId));
    if (!isProof) throw new VerificationFailedError();
    return rememberProof(tx, context);
  });
}
