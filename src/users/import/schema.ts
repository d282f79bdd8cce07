import type { GraphQLEnumType, GraphQLSchema } from 'graphql';
import { InvalidInputError, NotAllowedError } from '../../errors.ts';
import type { User as UserRow } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { ErrorCodeEnum } from '../../graphql/errors.ts';
import { addMutation, type PayloadFields } from '../../graphql/mutations/mutation.ts';
import { newUserFields, User } from '../schema.ts';
import {
  findPasswordAlgorithm,
  type ImportedPasswordAlgorithm,
  importedPasswordAlgorithms,
  importedPasswordFormats,
} from './imported-password.ts';
import { type ImportFailure, importUsers } from './operations.ts';

const ImportFailureObject = builder.objectRef<ImportFailure>('ImportFailure').implement({
  description: 'A rejected row of an import.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its index in the input, from 0.' }),
    code: t.expose('code', { type: ErrorCodeEnum, description: 'The kind of failure.' }),
    message: t.exposeString('message', { description: 'The failure as a text for people.' }),
  }),
});

const PasswordAlgorithmEnum = builder.enumType('PasswordAlgorithm', {
  description: 'The algorithm of a password digest.',
  values: Object.fromEntries(
    importedPasswordAlgorithms.map((algorithm) => [
      algorithm.toUpperCase(),
      { value: algorithm, description: `${importedPasswordFormats[algorithm]}.` },
    ]),
  ) as Record<string, { value: ImportedPasswordAlgorithm; description: string }>,
});

/**
 * Lets variables, and so REST, name algorithms as elsewhere, such as `Argon2id` and `SHA-256`. An unknown name reaches
 * the import, which rejects only its row.
 */
export function takeAlgorithmNames(schema: GraphQLSchema): void {
  const algorithms = schema.getType('PasswordAlgorithm') as GraphQLEnumType;
  const coerce = algorithms.coerceInputValue.bind(algorithms);
  algorithms.coerceInputValue = (value, hideSuggestions) =>
    typeof value === 'string'
      ? (findPasswordAlgorithm(value) ?? value)
      : coerce(value, hideSuggestions);
}

const ImportedUserInput = builder.inputType('ImportedUserInput', {
  description:
    'A user to import: the fields of `createUser`, or a password digest in place of a password, and what another system knows of the user.',
  fields: (t) => ({
    ...newUserFields(t),
    passwordDigest: t.string({
      description: `The digest of the password in another system, in the format of its algorithm. ${Object.entries(
        importedPasswordFormats,
      )
        .map(([algorithm, format]) => `${algorithm}: ${format}.`)
        .join(' ')} \`salt\` and \`hash\` are Base64.`,
    }),
    passwordAlgorithm: t.field({
      type: PasswordAlgorithmEnum,
      description:
        'The algorithm of the digest. It is replaced by Argon2id when the user next signs in. In variables, and over REST, case and punctuation do not matter: `sha-256` is `SHA256`.',
    }),
    isSuspended: t.boolean({ description: 'Whether the user cannot sign in. False by default.' }),
    roleIds: t.idList({ description: 'Roles beside the default ones, at most 100.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the user was created in the other system. By default now; never later.',
    }),
  }),
});

addMutation('importUsers', {
  description:
    'Creates up to 1,000 users at once, each as `createUser` does, or with password digests of other systems. A faulty row, or one with roles that the caller may not give, is reported and does not stop the others. Raises `User.Created` for each user, and `User.Roles.Updated` for each who gets roles beside the default ones.',
  scope: 'users:write',
  input: (t) => ({
    users: t.field({
      type: [ImportedUserInput],
      required: true,
      description: 'The users, at most 1,000.',
    }),
  }),
  payload: (t: PayloadFields<{ users: UserRow[]; failures: ImportFailure[] }>) => ({
    users: t.field({
      type: [User],
      description: 'The users created, in the order of the input.',
      resolve: ({ users }) => users,
    }),
    failures: t.field({
      type: [ImportFailureObject],
      description: 'The rejected rows, in the order of the input.',
      resolve: ({ failures }) => failures,
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: (input, context) => importUsers(context, input),
});
