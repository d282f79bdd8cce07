import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { InteractionExpiredError, VerificationRequiredError } from '../errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
  type RefusalClass,
} from '../graphql/mutations/mutation.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { User } from '../users/schema.ts';
import type { Interaction } from './interaction.ts';
import { accessOf, InteractionType, type Shown, show, visitContext } from './schema.ts';

/** The result of a step, with the interaction as the API shows it. */
type ShownResult<Result> = Omit<Result, 'interaction'> & { interaction: Shown };

interface StepOptions<Fields extends InputFieldMap, Result extends { interaction: Interaction }> {
  readonly description: string;
  readonly input: (t: InputFields) => Fields;
  /** Fields of the payload in addition to the interaction. */
  readonly payload?: (t: PayloadFields<ShownResult<NoInfer<Result>>>) => FieldMap;
  readonly errors: readonly RefusalClass[];
  /**
   * What the same mutation answers in the Account API, if it is there too: the account, or until when the step proves who
   * the person is. {@link addOwnStep} says what it does there.
   */
  readonly own?: 'viewer' | 'verifiedUntil' | 'payload';
  readonly step: (
    context: VisitContext,
    access: InteractionAccess,
    input: InputShapeFromFields<Fields>,
  ) => Promise<Result>;
}

/** What a mutation of both APIs does with the account of a signed-in person. */
type OwnStep = (context: GraphQLContext, input: object) => Promise<object>;

const ownSteps = new Map<string, OwnStep>();

/** Says what a step of a sign-in does in the Account API, where there is no interaction. */
export function addOwnStep(name: string, step: OwnStep): void {
  ownSteps.set(name, step);
}

/** The description of the one field of an input that has nothing to say: GraphQL has no empty input. */
export const unusedField = 'Not used: an input needs at least one field.';

// Fields of payloads in the Account API alone.
const ownFields = {
  viewer: (t: PayloadFields<{ viewer: typeof User.$inferType }>) => ({
    viewer: t.field({
      type: User,
      subGraphs: ['account'],
      description: 'The account after the change.',
      resolve: ({ viewer }) => viewer,
    }),
  }),
  verifiedUntil: (t: PayloadFields<{ verifiedUntil: Date }>) => ({
    verifiedUntil: t.field({
      type: 'DateTime',
      subGraphs: ['account'],
      description: 'Until when the proof counts.',
      resolve: ({ verifiedUntil }) => verifiedUntil,
    }),
  }),
};

/** Adds a mutation that does one step of an interaction and returns the possible next steps. */
export function addStep<Fields extends InputFieldMap, Result extends { interaction: Interaction }>(
  name: string,
  { step, own, payload, errors, ...options }: StepOptions<Fields, Result>,
): void {
  addMutation<Fields, ShownResult<Result>>(name, {
    ...options,
    graph: own ? ['experience', 'account'] : 'experience',
    scope: null,
    payload: (t) => ({
      interaction: t.field({
        type: InteractionType,
        subGraphs: ['experience'],
        description: 'The interaction after this step.',
        // The compiler cannot see through the payload's type parameter.
        resolve: (result) => (result as { interaction: Shown }).interaction as never,
      }),
      // What the fields show, a step under its own name returns: see `ownFields`.
      ...(own && own !== 'payload' ? ownFields[own](t as never) : {}),
      ...payload?.(t),
    }),
    errors: [
      ...errors,
      InteractionExpiredError,
      ...(own && own !== 'verifiedUntil' ? [VerificationRequiredError] : []),
    ],
    resolve: async (input, context) => {
      if (context.viewer !== undefined) {
        const ownStep = ownSteps.get(name);
        if (!ownStep) throw new Error(`${name} is not in the Account API.`);
        return (await ownStep(context, input)) as ShownResult<Result>;
      }
      const result = await step(visitContext(context), accessOf(context), input);
      return { ...result, interaction: await show(context, result.interaction) };
    },
  });
}
