import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { InteractionExpiredError } from '../errors.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
  type RefusalClass,
} from '../graphql/mutations/mutation.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
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
  readonly step: (
    context: VisitContext,
    access: InteractionAccess,
    input: InputShapeFromFields<Fields>,
  ) => Promise<Result>;
}

/** The description of the one field of an input that has nothing to say: GraphQL has no empty input. */
export const unusedField = 'Not used: an input needs at least one field.';

/** Adds a mutation that does one step of an interaction and returns the possible next steps. */
export function addStep<Fields extends InputFieldMap, Result extends { interaction: Interaction }>(
  name: string,
  { step, payload, errors, ...options }: StepOptions<Fields, Result>,
): void {
  addMutation<Fields, ShownResult<Result>>(name, {
    ...options,
    graph: 'experience',
    scope: null,
    payload: (t) => ({
      interaction: t.field({
        type: InteractionType,
        description: 'The interaction after this step.',
        // The compiler cannot see through the payload's type parameter.
        resolve: (result) => (result as { interaction: Shown }).interaction as never,
      }),
      ...payload?.(t),
    }),
    errors: [...errors, InteractionExpiredError],
    resolve: async (input, context) => {
      const result = await step(visitContext(context), accessOf(context), input);
      return { ...result, interaction: await show(context, result.interaction) };
    },
  });
}
