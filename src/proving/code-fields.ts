import type { InputFields } from '../graphql/mutations/mutation.ts';

/** The address that a code goes to, as input of a mutation. */
export const addressInput = (t: InputFields) => ({
  email: t.field({ type: 'EmailAddress', description: 'An e-mail address. Give this or `phone`.' }),
  phone: t.field({
    type: 'PhoneNumber',
    description: 'A telephone number in E.164. Give this or `email`.',
  }),
});

/**
 * A code that was typed, as input of a mutation.
 *
 * @param sentBy The mutation that sent it.
 */
export const typedCodeInput = (t: InputFields, sentBy: 'sendCode' | 'sendViewerCode') => ({
  verificationId: t.id({ required: true, description: `The id that \`${sentBy}\` returned.` }),
  code: t.string({ required: true, description: 'The code.' }),
});
