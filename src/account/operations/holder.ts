import { untold } from '../../db/told.ts';
import type { Holder } from '../../proving/holder.ts';
import type { ViewerContext } from '../../services.ts';
import { assertProved, changeProved, rememberProof } from './proof.ts';
import { changeViewer, readViewer } from './viewer.ts';

/**
 * A signed-in person, as the holder of what they prove in their session. Whoever adds a factor has proved who they are.
 */
export function sessionHolder(context: ViewerContext): Holder {
  const { userId, session, clientId } = context.viewer;
  const person = { userId, holder: session, language: context.visitor.language, context };
  return {
    id: session,
    applicationId: clientId,
    context,
    findPerson: () => readViewer(context),
    async readPerson(to) {
      if (to === 'ENROLL') await assertProved(context);
      return readViewer(context);
    },
    enroll: (work) =>
      changeProved(context, (tx) =>
        // The person has just proved who they are: the new factor adds nothing to that.
        work(tx, { ...person, recordShown: async () => undefined }),
      ),
    show: (factor, take) =>
      changeViewer(context, async (tx) => {
        if (factor.userId !== userId || !(await take(tx))) return untold(false);
        const remembered = await rememberProof(tx, context);
        return remembered.with(true);
      }),
  };
}
