import { InvalidInputError, NotAllowedError } from '../errors.ts';
import { addMutation, type PayloadFields } from '../graphql/mutations/mutation.ts';
import { IdentifierTypeEnum } from '../sign-in-experience/schema.ts';
import type { IdentifierType } from '../sign-in-experience/settings.ts';
import { unlockIdentifier } from './unlock.ts';

addMutation('unlockIdentifier', {
  description:
    'Ends the locks of an identifier and forgets its failed attempts, even if nobody has it. Its owner may not hold more than the caller. Raises `Identifier.Unlocked` if it was locked.',
  scope: 'users:write',
  input: (t) => ({
    type: t.field({
      type: IdentifierTypeEnum,
      required: true,
      description: 'The kind of identifier.',
    }),
    value: t.string({
      required: true,
      description: 'The user name, the e-mail address or the telephone number, ignoring case.',
    }),
  }),
  payload: (t: PayloadFields<{ type: IdentifierType; value: string }>) => ({
    type: t.expose('type', { type: IdentifierTypeEnum, description: 'The kind of identifier.' }),
    value: t.exposeString('value', {
      description: 'The identifier in the spelling that attempts are counted by.',
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: (input, context) => unlockIdentifier(context, input),
});
