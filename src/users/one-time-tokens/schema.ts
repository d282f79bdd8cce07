import { InvalidInputError, NotAllowedError } from '../../errors.ts';
import type { OneTimeToken as OneTimeTokenRow } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { addMutation, type PayloadFields } from '../../graphql/mutations/mutation.ts';
import { createOneTimeToken } from './one-time-token.ts';

const OneTimeToken = builder.objectRef<OneTimeTokenRow>('OneTimeToken').implement({
  description: 'A token that signs in the owner of an e-mail address once.',
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    id: t.exposeID('id', { description: "The token's id: a TypeID with the prefix `ott`." }),
    email: t.expose('email', {
      type: 'EmailAddress',
      description: 'The address that it is for. Using the token verifies it.',
    }),
    context: t.expose('context', {
      type: 'JSONObject',
      description: 'Data that its creator stored with it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
  }),
});

addMutation('createOneTimeToken', {
  description:
    'Creates a token that signs in the owner of an e-mail address once, and verifies the address. It is for links that you send yourself. Raises `OneTimeToken.Created`.',
  scope: 'users:write',
  input: (t) => ({
    email: t.field({
      type: 'EmailAddress',
      required: true,
      description: 'The address. It need not belong to an account.',
    }),
    expiresInSeconds: t.int({
      description: 'Its lifetime in seconds: 600 by default, at most 604800.',
    }),
    context: t.field({
      type: 'JSONObject',
      description: 'Data to store with it, at most 64 KiB.',
    }),
  }),
  payload: (t: PayloadFields<{ oneTimeToken: OneTimeTokenRow; token: string }>) => ({
    oneTimeToken: t.field({
      type: OneTimeToken,
      description: 'The record of the token, without its value.',
      resolve: ({ oneTimeToken }) => oneTimeToken,
    }),
    token: t.exposeString('token', { description: 'The value of the token, shown only once.' }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: (input, context) => createOneTimeToken(context, input),
});
