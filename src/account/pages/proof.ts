import { VerificationFailedError } from '../../errors.ts';
import { finishProviderProof } from '../operations/provider-proof.ts';
import type { AccountPage } from '../site/visit.ts';
import { verifyPage } from './verify.ts';

/** Where a person comes back to from an identity provider at which they proved who they are. */
export const proofPage: AccountPage = {
  path: '/proof',
  async show(visit, request) {
    try {
      await finishProviderProof(visit.context, request.query);
      return { goTo: '?done=proof' };
    } catch (error) {
      if (!(error instanceof VerificationFailedError)) throw error;
      const problem = { status: 422, text: visit.texts.wrongInput };
      return verifyPage.show(visit, { ...request, query: new URLSearchParams(), problem });
    }
  },
};
