import { InvalidInputError, NotAllowedError } from '../errors.ts';
import { builder } from '../graphql/builder.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutations/mutation.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { maxMetadataHosts, maxRotationDays, updateServiceSettings } from './operations.ts';
import {
  type ClientRegistration,
  type DpopNonce,
  readServiceSettings,
  readSettingsVersion,
  type ServiceSettings,
} from './settings.ts';

const texts = {
  clientRegistration: 'How applications become known that no administrator creates.',
  metadataDocuments:
    'Whether an application may name itself by the URL of a document that describes it (client id metadata document).',
  metadataHosts: `The hosts of the documents that are read with \`LISTED\`, without ports. At most ${maxMetadataHosts}.`,
  dynamic: 'Whether programs may register public applications at `/oidc/register` (RFC 7591).',
  signingKeyRotationDays: `After how many days a new signing key is made, from 1 to ${maxRotationDays.toLocaleString('en')}; null: only \`rotateSigningKey\` makes one.`,
  dpopNonce:
    'Whether proofs of possession (DPoP, RFC 9449) need a nonce of the service. `OFF` by default.',
} as const;

const MetadataDocumentPolicyEnum = builder.enumType('MetadataDocumentPolicy', {
  description: 'Whose metadata documents are read.',
  values: {
    OFF: { description: 'Nobody’s.' },
    LISTED: { description: 'Those at `metadataHosts`.' },
    ANY: { description: 'Those at any public host.' },
  } as const satisfies Record<ClientRegistration['metadataDocuments'], object>,
});

const DynamicRegistrationPolicyEnum = builder.enumType('DynamicRegistrationPolicy', {
  description: 'Who may register applications.',
  values: {
    OFF: { description: 'Nobody.' },
    INITIAL_ACCESS_TOKEN: { description: 'Programs with a token of `createRegistrationToken`.' },
    OPEN: { description: 'Any program.' },
  } as const satisfies Record<ClientRegistration['dynamic'], object>,
});

const ClientRegistrationObject = builder
  .objectRef<ClientRegistration>('ClientRegistration')
  .implement({
    description: texts.clientRegistration,
    fields: (t) => ({
      metadataDocuments: t.field({
        type: MetadataDocumentPolicyEnum,
        description: texts.metadataDocuments,
        resolve: ({ metadataDocuments }) => metadataDocuments,
      }),
      metadataHosts: t.field({
        type: ['String'],
        description: texts.metadataHosts,
        resolve: ({ metadataHosts }) => [...metadataHosts],
      }),
      dynamic: t.field({
        type: DynamicRegistrationPolicyEnum,
        description: texts.dynamic,
        resolve: ({ dynamic }) => dynamic,
      }),
    }),
  });

const DpopNonceEnum = builder.enumType('DpopNonce', {
  description: 'Whether proofs of possession need a nonce of the service (RFC 9449 §8).',
  values: {
    OFF: { description: 'They need none.' },
    REQUIRED: {
      description: 'They need one that the service gave a few minutes ago, in `DPoP-Nonce`.',
    },
  } as const satisfies Record<DpopNonce, object>,
});

const ServiceSettingsObject = builder.objectRef<ServiceSettings>('ServiceSettings').implement({
  description: 'Settings of the service.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    version: t.int({
      description: versionDescription,
      resolve: (_settings, _args, { database }) => readSettingsVersion(database.prisma),
    }),
    signingKeyRotationDays: t.exposeInt('signingKeyRotationDays', {
      nullable: true,
      description: texts.signingKeyRotationDays,
    }),
    clientRegistration: t.field({
      type: ClientRegistrationObject,
      description: texts.clientRegistration,
      resolve: ({ clientRegistration }) => clientRegistration,
    }),
    dpopNonce: t.expose('dpopNonce', { type: DpopNonceEnum, description: texts.dpopNonce }),
  }),
});

builder.queryFields((t) => ({
  serviceSettings: t.field({
    type: ServiceSettingsObject,
    description: 'Settings of the service. Requires `applications:read`.',
    authScopes: { scope: 'applications:read' },
    resolve: (_root, _args, { database }) => readServiceSettings(database.prisma),
  }),
}));

const ClientRegistrationInput = builder.inputType('ClientRegistrationInput', {
  description: `${texts.clientRegistration} An absent field stays as it is; null restores its default.`,
  fields: (t) => ({
    metadataDocuments: t.field({
      type: MetadataDocumentPolicyEnum,
      description: texts.metadataDocuments,
    }),
    metadataHosts: t.stringList({ description: texts.metadataHosts }),
    dynamic: t.field({ type: DynamicRegistrationPolicyEnum, description: texts.dynamic }),
  }),
});

const settingsFields = (t: InputFields) => ({
  clientRegistration: t.field({
    type: ClientRegistrationInput,
    description: texts.clientRegistration,
  }),
  signingKeyRotationDays: t.int({
    description: `${texts.signingKeyRotationDays} Requires \`all\`.`,
  }),
  dpopNonce: t.field({ type: DpopNonceEnum, description: texts.dpopNonce }),
});

addMutation('updateServiceSettings', {
  description:
    'Changes settings of the service. An absent field stays as it is; null restores its default. Raises `ServiceSettings.Updated` if something changed.',
  scope: 'applications:write',
  input: settingsFields,
  payload: (t: PayloadFields<{ serviceSettings: ServiceSettings }>) => ({
    serviceSettings: t.field({
      type: ServiceSettingsObject,
      description: 'The current settings.',
      resolve: ({ serviceSettings }) => serviceSettings,
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: async (input, context) => ({
    serviceSettings: await updateServiceSettings(context, input),
  }),
});
