import { z } from 'zod';
import { InvalidInputError } from '../../errors.ts';
import { AddressedInput, instant, text } from '../../input.ts';
import type { addressParser } from '../../messages/senders/non-ascii-addresses.ts';
import { assignedIds } from '../../role-holders/operations.ts';
import { newUser, verifiedAfter } from '../fields.ts';
import { costOf, digestBounds, isWithinBounds } from './digest-cost.ts';
import {
  findPasswordAlgorithm,
  importedPasswordAlgorithms,
  importedPasswordFormats,
  readImportedDigest,
} from './imported-password.ts';

const importedUser = new AddressedInput((emailAddress) =>
  newUser(emailAddress)
    .extend({
      isSuspended: z.boolean().nullish(),
      roleIds: assignedIds.nullish(),
      createdAt: instant.nullish(),
      passwordDigest: text(1024).nullish(),
      passwordAlgorithm: text(32).nullish(),
    })
    .transform(({ password, passwordDigest, passwordAlgorithm, ...fields }, context) => {
      const fault = (field: string, message: string) => {
        context.addIssue({ code: 'custom', path: [field], message });
        return z.NEVER;
      };
      if (passwordDigest == null && passwordAlgorithm == null) {
        return { ...fields, password: password ?? null, digest: null };
      }
      if (password != null) return fault('password', 'excludes passwordDigest');
      if (passwordDigest == null)
        return fault('passwordDigest', 'is required with passwordAlgorithm');
      const algorithm = findPasswordAlgorithm(passwordAlgorithm ?? '');
      if (!algorithm) {
        return fault(
          'passwordAlgorithm',
          `must be one of ${importedPasswordAlgorithms.join(', ')}`,
        );
      }
      const digest = readImportedDigest(algorithm, passwordDigest);
      if (digest === undefined) {
        return fault('passwordDigest', `must be as ${importedPasswordFormats[algorithm]}`);
      }
      if (!isWithinBounds(digest)) {
        return fault('passwordDigest', `must be within ${digestBounds[algorithm]}`);
      }
      return {
        ...fields,
        password: null,
        digest: {
          passwordDigest: digest,
          passwordAlgorithm: algorithm,
          passwordCost: costOf(digest),
        },
      };
    }),
);

/** A row of an import, read. */
export type ImportedUser = ReturnType<typeof previewImportedUser>;

/**
 * Reads a row of an import.
 *
 * @throws {InvalidInputError}
 */
export const readImportedUser = async (
  parse: ReturnType<typeof addressParser>,
  row: unknown,
  now: Date,
): Promise<ImportedUser> => complete(await parse(importedUser, row), now);

/**
 * Reads a row that a service will get. It refuses the row if it cannot send to its address.
 *
 * @throws {InvalidInputError}
 */
export const previewImportedUser = (row: unknown, now: Date) =>
  complete(importedUser.preview(row), now);

function complete(fields: ReturnType<typeof importedUser.preview>, now: Date) {
  const verified = verifiedAfter(null, fields);
  if (fields.createdAt != null && fields.createdAt > now) {
    throw new InvalidInputError([{ path: ['createdAt'], message: 'must not lie in the future' }]);
  }
  return { ...fields, ...verified };
}
