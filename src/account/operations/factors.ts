import { type DeletedFactor, deleteOwnFactor } from '../../factors/delete.ts';
import type { ViewerContext } from '../../services.ts';
import { changeProved } from './proof.ts';
import { removeWayIn } from './ways-in.ts';

/**
 * Deletes one of the person's factors. Refuses the last one where one is required, and a passkey that is the last way
 * to sign in. Raises `User.Data.Updated` and `User.Credential.Updated`.
 *
 * @returns The factor in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} {@link VerificationRequiredError}
 */
export const deleteViewerFactor = (
  context: ViewerContext,
  { id: factorId }: { id: string },
): Promise<DeletedFactor> =>
  changeProved(context, (tx) => {
    const { userId } = context.viewer;
    const { language } = context.visitor;
    return removeWayIn(tx, context, () =>
      deleteOwnFactor(tx, context, { userId, factorId, language }),
    );
  });
