import { InteractionExpiredError, InvalidInputError, NotAllowedError } from '../../errors.ts';
import { builder } from '../../graphql/builder.ts';
import { addMutation, noFields, type PayloadFields } from '../../graphql/mutations/mutation.ts';
import type { AskedResource, Consent } from '../../oidc/consent/asked.ts';
import { languageOf } from '../../sign-in-experience/language.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { sharedTexts } from '../../web/texts.ts';
import type { Interaction } from '../interaction.ts';
import { accessOf, addStep, InteractionType, subGraphs, visitContext } from '../schema.ts';
import { findConsent, findExchangers } from './gate.ts';
import { denyConsent, grantConsent } from './operations.ts';

const ConsentScopeType = builder
  .objectRef<AskedResource['scopes'][number]>('InteractionConsentScope')
  .implement({
    subGraphs,
    description: 'A scope that an application asks a person to allow.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'Its name.' }),
      description: t.exposeString('description', {
        nullable: true,
        description: 'What it allows, in plain words.',
      }),
    }),
  });

const ConsentResourceType = builder
  .objectRef<AskedResource>('InteractionConsentResource')
  .implement({
    subGraphs,
    description: 'A resource of which an application asks for scopes.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'Its name.' }),
      indicator: t.exposeString('indicator', { description: 'Its resource indicator.' }),
      scopes: t.field({
        type: [ConsentScopeType],
        description: 'The scopes, among those that the person holds.',
        resolve: ({ scopes }) => [...scopes],
      }),
    }),
  });

interface Shown {
  readonly consent: Consent;
  readonly interaction: Interaction;
}

const ConsentType = builder.objectRef<Shown>('InteractionConsent').implement({
  subGraphs,
  description: 'What an application asks a person to allow.',
  fields: (t) => ({
    scopes: t.field({
      type: [ConsentScopeType],
      description: 'Scopes of OpenID Connect: what the application learns about the person.',
      resolve: async ({ consent: { scopes } }, _args, context) => {
        const settings = await readSignInExperience(context.database.prisma);
        const t = sharedTexts[languageOf(visitContext(context), settings)];
        return scopes.map((name) => ({ name, description: t.scope[name] ?? null }));
      },
    }),
    resources: t.field({
      type: [ConsentResourceType],
      description: 'Scopes of resources.',
      resolve: ({ consent: { resources } }) => [...resources],
    }),
    exchangedBy: t.stringList({
      description:
        'The names of the applications that may exchange the tokens of this third-party application, and then act with all that the person holds.',
      resolve: ({ interaction }, _args, { database }) =>
        findExchangers(database.prisma, interaction),
    }),
  }),
});

builder.objectField(InteractionType, 'consent', (t) =>
  t.field({
    type: ConsentType,
    nullable: true,
    description: 'What the application asks the person to allow; null if nothing is asked.',
    resolve: async ({ interaction }, _args, { database }) => {
      const consent = await findConsent(database.prisma, interaction);
      return consent && { consent, interaction };
    },
  }),
);

addStep('grantConsent', {
  description: 'Allows the application what it asks for. The person can take it back later.',
  input: (t) => ({
    scopes: t.stringList({
      description:
        'The names of the scopes that the person was shown. If the application asks for others now, nothing is allowed.',
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await grantConsent(context, access, input),
  }),
});

addMutation('denyConsent', {
  graph: 'experience',
  scope: null,
  description: 'Refuses the application what it asks for, and returns to it.',
  input: noFields,
  payload: (t: PayloadFields<{ redirectTo: string }>) => ({
    redirectTo: t.exposeString('redirectTo', {
      description: 'The URL that leads back to the application, with the error `access_denied`.',
    }),
  }),
  errors: [NotAllowedError, InteractionExpiredError],
  resolve: async (_input, context) => ({
    redirectTo: await denyConsent(visitContext(context), accessOf(context)),
  }),
});
