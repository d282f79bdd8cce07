import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { InteractionExpiredError, VerificationRequiredError } from '../../errors.ts';
import { interactionHolder } from '../../experience/holder.ts';
import { readInteraction } from '../../experience/interaction.ts';
import { accessOf, InteractionType, show, visitContext } from '../../experience/schema.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
  type RefusalClass,
} from '../../graphql/mutations/mutation.ts';
import type { MutationName } from '../../graphql/mutations/raised.ts';
import type { Holder } from '../../proving/holder.ts';
import { User } from '../../users/schema.ts';
import { sessionHolder } from '../operations/holder.ts';
import { readProvedUntil } from '../operations/proof.ts';
import { readViewer } from '../operations/viewer.ts';
import { viewerContext } from './schema.ts';

interface SharedMutation<Fields extends InputFieldMap, Result> {
  readonly description: string;
  readonly input: (t: InputFields) => Fields;
  readonly step: (holder: Holder, input: InputShapeFromFields<Fields>) => Promise<Result>;
  /** Fields of the payload in both APIs. */
  readonly payload?: (t: PayloadFields<{ readonly result: NoInfer<Result> }>) => FieldMap;
  /** What the payload shows in the Account API: the account after the change, or until when the proof counts. */
  readonly shows?: 'viewer' | 'verifiedUntil';
  readonly errors: readonly RefusalClass[];
  /** See `addMutation`. */
  readonly standsSeconds?: number | null;
}

/**
 * Adds a mutation that the Experience API and the Account API both have. It is here because only this part knows both.
 * In the Experience API the payload shows the interaction after the step.
 */
export function addSharedMutation<Fields extends InputFieldMap, Result>(
  name: MutationName,
  { step, payload, shows, errors, ...options }: SharedMutation<Fields, Result>,
): void {
  addMutation<Fields, { readonly result: Result }>(name, {
    ...options,
    graph: ['experience', 'account'],
    scope: null,
    payload: (t) => ({
      interaction: t.field({
        type: InteractionType,
        subGraphs: ['experience'],
        description: 'The interaction after this step.',
        resolve: async (_payload, _args, context) =>
          show(context, await readInteraction(visitContext(context), accessOf(context))),
      }),
      ...(shows === 'viewer' && {
        viewer: t.field({
          type: User,
          subGraphs: ['account'],
          description: 'The account after the change.',
          resolve: (_payload, _args, context) => readViewer(viewerContext(context)),
        }),
      }),
      ...(shows === 'verifiedUntil' && {
        verifiedUntil: t.field({
          type: 'DateTime',
          subGraphs: ['account'],
          description: 'Until when the proof counts.',
          resolve: (_payload, _args, context) => readProvedUntil(viewerContext(context)),
        }),
      }),
      ...payload?.(t),
    }),
    errors: [
      ...errors,
      InteractionExpiredError,
      // A proof needs no earlier proof.
      ...(shows === 'verifiedUntil' ? [] : [VerificationRequiredError]),
    ],
    resolve: async (input, context) => ({ result: await step(holderOf(context), input) }),
  });
}

/** Whoever the request proves: in the Account API a signed-in person, otherwise whoever signs in. */
const holderOf = (context: GraphQLContext): Holder =>
  context.viewer === undefined
    ? interactionHolder({ context: visitContext(context), access: accessOf(context) })
    : sessionHolder(viewerContext(context));
