import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { InteractionExpiredError } from '../errors.ts';
import { readFactorState } from '../factors/policy.ts';
import { type FactorType, InteractionEvent } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
  type RefusalClass,
} from '../graphql/mutations/mutation.ts';
import type { MutationName } from '../graphql/mutations/raised.ts';
import { requestError } from '../graphql/request-error.ts';
import { listSocialProviders } from '../identity-providers/choice.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { FactorTypeEnum } from '../sign-in-experience/schema.ts';
import { identifierTypes, type SignInExperience } from '../sign-in-experience/settings.ts';
import { federationErrors } from './federation/failure.ts';
import { type Interaction, readInteraction } from './interaction.ts';
import { interactionSteps, missingForSignUp, newcomerOf, nextStepsOf } from './steps.ts';

/** The schema of the Experience API. */
export const subGraphs = ['experience' as const];

const StepEnum = builder.enumType('InteractionStep', {
  subGraphs,
  description: 'A possible next step of an interaction.',
  values: interactionSteps,
});

/** The purposes of an interaction. */
export const InteractionEventEnum = builder.enumType('InteractionEvent', {
  subGraphs,
  description: 'The purpose of an interaction.',
  values: Object.values(InteractionEvent),
});

const FieldEnum = builder.enumType('InteractionField', {
  subGraphs,
  description: 'Something that a registration still needs.',
  values: identifierTypes,
});

/** An interaction as the API shows it, by the settings at the time of reading. */
export interface Shown {
  readonly interaction: Interaction;
  readonly settings: SignInExperience;
}

const ApplicationType = builder
  .objectRef<Interaction['application']>('InteractionApplication')
  .implement({
    subGraphs,
    description: 'The application that the person signs in to.',
    fields: (t) => ({ name: t.exposeString('name', { description: 'Its name.' }) }),
  });

const InteractionFactorType = builder
  .objectRef<{ readonly type: FactorType }>('InteractionFactor')
  .implement({
    subGraphs,
    description: 'A second factor that a person can show.',
    fields: (t) => ({
      type: t.expose('type', { type: FactorTypeEnum, description: 'The kind of factor.' }),
    }),
  });

const InteractionProviderType = builder
  .objectRef<{ readonly id: string; readonly name: string }>('InteractionIdentityProvider')
  .implement({
    subGraphs,
    description: 'An identity provider that a person can continue with.',
    fields: (t) => ({
      id: t.exposeID('id', { description: 'The id that `startFederation` takes.' }),
      name: t.exposeString('name', { description: 'Its name.' }),
    }),
  });

/** An interaction. */
export const InteractionType = builder.objectRef<Shown>('Interaction').implement({
  subGraphs,
  description: 'A running sign-in of one browser, or of the holder of one token.',
  fields: (t) => ({
    id: t.id({
      description: 'Its name in support requests and logs. It gives no access.',
      resolve: ({ interaction }) => interaction.id,
    }),
    event: t.field({
      type: InteractionEventEnum,
      description: 'Its purpose. It changes with the requests of the person.',
      resolve: ({ interaction }) => interaction.event,
    }),
    nextSteps: t.field({
      type: [StepEnum],
      description: 'The possible next steps, the most likely first.',
      resolve: async ({ interaction, settings }, _args, context) => [
        ...(await nextStepsOf(context, interaction, settings)),
      ],
    }),
    application: t.field({
      type: ApplicationType,
      description: 'The application that the person signs in to.',
      resolve: ({ interaction }) => interaction.application,
    }),
    identifier: t.string({
      nullable: true,
      description:
        'The identifier that the person gave: a user name, an e-mail address or a telephone number.',
      resolve: ({ interaction }) => interaction.identifier,
    }),
    missing: t.field({
      type: [FieldEnum],
      description: 'The data that a registration still needs; empty in any other interaction.',
      resolve: ({ interaction, settings }, _args, context) =>
        (interaction.event === 'REGISTER' || newcomerOf(interaction)) && interaction.userId === null
          ? [...missingForSignUp(context, interaction, settings)]
          : [],
    }),
    factors: t.field({
      type: [InteractionFactorType],
      description: 'The second factors of the person, any of which can be shown here.',
      resolve: async ({ interaction: { userId }, settings }, _args, { database }) => {
        if (userId === null) return [];
        const { usable } = await readFactorState(database.prisma, settings, userId);
        return usable.map((type) => ({ type }));
      },
    }),
    identityProviders: t.field({
      type: [InteractionProviderType],
      description: 'The identity providers that a person can continue with.',
      resolve: (_shown, _args, { database }) => listSocialProviders(database.prisma),
    }),
    error: t.string({
      nullable: true,
      description: `Why the identity provider sent the person back without a sign-in: ${Object.entries(
        federationErrors,
      )
        .map(([error, meaning]) => `\`${error}\` (${meaning})`)
        .join(' ')}`,
      resolve: ({ interaction }) => interaction.error,
    }),
  }),
});

/**
 * The interaction of a request.
 *
 * @throws UNAUTHENTICATED without proof of one; {@link InteractionExpiredError} when it is over.
 */
export function accessOf({ visit }: GraphQLContext): InteractionAccess {
  if (!visit?.access) {
    throw requestError(
      'UNAUTHENTICATED',
      'An interaction token is required, or the cookie of an interaction.',
    );
  }
  if (visit.access instanceof InteractionExpiredError) throw visit.access;
  return visit.access;
}

/** The context of an operation on an interaction. */
export function visitContext(context: GraphQLContext): VisitContext {
  const { visit, ip } = context;
  if (!visit || ip === null)
    throw new Error('Interactions are in the schema of the Experience API alone.');
  return { ...context, visitor: visit.visitor, ip };
}

/** Adds the settings by which the API shows an interaction. */
export const show = async (context: GraphQLContext, interaction: Interaction): Promise<Shown> => ({
  interaction,
  settings: await readSettingsInForce(context.database.prisma, interaction.userId),
});

builder.queryField('interaction', (t) =>
  t.field({
    type: InteractionType,
    subGraphs,
    nullable: true,
    description: 'The interaction of the request; null if it is over.',
    resolve: async (_root, _args, context) => {
      try {
        return await show(context, await readInteraction(visitContext(context), accessOf(context)));
      } catch (error) {
        if (error instanceof InteractionExpiredError) return null;
        throw error;
      }
    },
  }),
);

/** The result of a step, with the interaction as the API shows it. */
type ShownResult<Result> = Omit<Result, 'interaction'> & { interaction: Shown };

interface StepOptions<Fields extends InputFieldMap, Result extends { interaction: Interaction }> {
  readonly description: string;
  readonly input: (t: InputFields) => Fields;
  /** Fields of the payload in addition to the interaction. */
  readonly payload?: (t: PayloadFields<ShownResult<NoInfer<Result>>>) => FieldMap;
  readonly errors: readonly RefusalClass[];
  /** See `addMutation`. */
  readonly standsSeconds?: number | null;
  readonly step: (
    context: VisitContext,
    access: InteractionAccess,
    input: InputShapeFromFields<Fields>,
  ) => Promise<Result>;
}

/** Adds a mutation that does one step of an interaction and returns the possible next steps. */
export function addStep<Fields extends InputFieldMap, Result extends { interaction: Interaction }>(
  name: MutationName,
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
