import { InvalidInputError } from '../../errors.ts';
import type { RegistrationToken } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { addRecordQueries, orders } from '../../graphql/lists/record-queries.ts';
import { addMutation, type PayloadFields } from '../../graphql/mutations/mutation.ts';
import { recordMutations } from '../../graphql/mutations/record-mutations.ts';
import {
  createRegistrationToken,
  deleteRegistrationToken,
  maxRegistrations,
} from './registration-token.ts';

const RegistrationTokenNode = builder.prismaNode('RegistrationToken', {
  nullable: true,
  id: { field: 'id', description: "The token's id: a TypeID with the prefix `regtoken`." },
  description:
    'A token with which programs can register applications. The token itself was shown once and is not stored.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    maxUses: t.exposeInt('maxUses', { description: 'How many applications it can register.' }),
    uses: t.exposeInt('uses', { description: 'How many applications it has registered.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
  }),
});

addRecordQueries(RegistrationTokenNode, {
  names: ['registrationToken', 'registrationTokens'],
  noun: 'registration token',
  shortNoun: 'token',
  scope: 'applications:read',
  search: { columns: ['id'], description: 'the id' },
  order: { CREATED_AT: orders.byCreation },
});

const mutations = recordMutations('registrationToken', RegistrationTokenNode, {
  scope: 'applications:write',
  noun: 'token',
  description: 'The record of the token, without its value.',
});

addMutation('createRegistrationToken', {
  description:
    'Creates a token with which programs can register applications at `/oidc/register` (RFC 7591, the initial access token) while `clientRegistration.dynamic` is `INITIAL_ACCESS_TOKEN`. Raises `RegistrationToken.Created`.',
  scope: 'applications:write',
  input: (t) => ({
    expiresAt: t.field({ type: 'DateTime', required: true, description: 'When it expires.' }),
    maxUses: t.int({
      description: `How many applications it can register: 1 by default, at most ${maxRegistrations.toLocaleString('en')}.`,
    }),
  }),
  payload: (t: PayloadFields<{ registrationToken: RegistrationToken; token: string }>) => ({
    ...mutations.payload(t),
    token: t.exposeString('token', { description: 'The token, shown only once.' }),
  }),
  errors: [InvalidInputError],
  resolve: (input, context) => createRegistrationToken(context, input),
});

mutations.addDeletion('deleteRegistrationToken', {
  description:
    'Deletes a registration token: nothing more is registered with it. What was, stays. Raises `RegistrationToken.Deleted`.',
  model: ({ registrationToken }) => registrationToken,
  operation: deleteRegistrationToken,
});
