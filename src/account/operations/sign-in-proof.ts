import { NotAllowedError, VerificationFailedError } from '../../errors.ts';
import { type PresentedCode, spendFreshCode } from '../../oidc/provider/storage/spend-code.ts';
import type { ViewerContext } from '../../services.ts';
import { listProvingProviders, proofTtlSeconds, rememberProof } from './proof.ts';
import { changeViewer } from './viewer.ts';

const federated = 'fed';

/**
 * Proves who the person is by a new sign-in at an identity provider, for those who have no other way. The application
 * sent them through the authorization endpoint with `prompt=login`, and gives the code here instead of redeeming it.
 *
 * It takes a code and no token, because a token may be stolen. Only the application has the code and knows its
 * verifier, so nobody gets a proof by sending somebody else a link.
 *
 * @returns Until when the proof counts.
 * @throws {NotAllowedError} when the person has another way, or no identity of a provider that is enabled;
 *   {@link VerificationFailedError} for any other code. It is not used up.
 */
export async function verifyViewerSignIn(
  context: ViewerContext,
  presented: PresentedCode,
): Promise<Date> {
  if ((await listProvingProviders(context)).length === 0)
    throw new NotAllowedError('The person cannot prove it at an identity provider.');
  return changeViewer(context, async (tx) => {
    const signIn = await spendFreshCode(tx, context, context.viewer, presented);
    const oldest = context.clock.now().getTime() - proofTtlSeconds * 1000;
    const isProof =
      signIn?.methods.includes(federated) && signIn.authenticatedAt.getTime() > oldest;
    // Thrown inside the transaction, so the code stays as it was.
    if (!isProof) throw new VerificationFailedError();
    return rememberProof(tx, context);
  });
}
