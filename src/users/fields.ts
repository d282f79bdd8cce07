import { z } from 'zod';
import { type InputIssue, InvalidInputError } from '../errors.ts';
import type { User } from '../generated/prisma/client.ts';
import {
  AddressedInput,
  type EmailAddress,
  fault,
  foldCase,
  type InputOf,
  jsonObject,
  name,
  phoneNumber,
  text,
  webUrl,
} from '../input.ts';
import { composed, withoutSpaceAround } from '../text/typed.ts';

/** A user name: without spaces around it. */
export const username = text(128)
  .overwrite(withoutSpaceAround)
  .regex(
    /^[A-Za-z_][\w.-]*$/,
    'must begin with a letter or "_" and hold only letters, digits, ".", "_" and "-"',
  );
/** A password that an administrator sets. */
export const password = text(256).min(8, 'must have at least 8 characters');

/** The claims about a person that a profile holds (OpenID Connect Core §5.1); each is a string. */
export const profileClaims = [
  'family_name',
  'given_name',
  'middle_name',
  'nickname',
  'profile',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
] as const;

/** The two names of a profile claim: as in OpenID Connect, and in camel case. */
export const namesOfClaim = (claim: (typeof profileClaims)[number]): readonly string[] => [
  claim,
  claim.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
];

/** A profile, or a patch of one: null removes a claim. Claims beyond those of OpenID Connect are allowed. */
export const userProfile = jsonObject
  .superRefine((value, context) => {
    for (const name of new Set(profileClaims.flatMap(namesOfClaim))) {
      if (value[name] == null || typeof value[name] === 'string') continue;
      const issue = fault('INVALID_TYPE', 'must be a string (OpenID Connect Core §5.1)');
      context.addIssue({ code: 'custom', path: [name], ...issue });
    }
  })
  .transform((value) =>
    Object.fromEntries(
      Object.entries(value).map(([claim, one]) => [
        claim,
        typeof one === 'string' ? composed(one) : one,
      ]),
    ),
  );

/** The fields that identify a user. */
export const profileFields = (emailAddress: EmailAddress) => ({
  username: username.nullish(),
  primaryEmail: emailAddress.nullish(),
  primaryPhone: phoneNumber.nullish(),
  name: name().nullish(),
  avatar: webUrl.nullish(),
});

/** Whether the addresses are verified. */
export const verifiedFields = {
  isEmailVerified: z.boolean().nullish(),
  isPhoneVerified: z.boolean().nullish(),
};

/** The fields that say whether an address is verified, each with its address. */
const verifications = [
  ['isEmailVerified', 'primaryEmail'],
  ['isPhoneVerified', 'primaryPhone'],
] as const;

/** The fields of a new user. */
export const newUser = (emailAddress: EmailAddress) =>
  z.object({
    ...profileFields(emailAddress),
    ...verifiedFields,
    password: password.nullish(),
    profile: userProfile.nullish(),
    customData: jsonObject.nullish(),
  });

/** The schema of {@link CreateUserInput}. */
export const createUserInput = new AddressedInput(newUser);

/**
 * Whether the addresses of a record to be written are verified: as the patch says. A changed address is no longer
 * verified.
 *
 * @throws {InvalidInputError} when a missing address is to be verified.
 */
export function verifiedAfter(
  before: Pick<User, (typeof verifications)[number][number]> | null,
  patch: Partial<Record<(typeof verifications)[number][0], boolean | null | undefined>> &
    Partial<Record<(typeof verifications)[number][1], string | null | undefined>>,
): Pick<User, (typeof verifications)[number][0]> {
  const issues: InputIssue[] = [];
  const states = verifications.map(([flag, field]) => {
    const address = patch[field] === undefined ? (before?.[field] ?? null) : patch[field];
    const isSame = foldCase(address ?? '') === foldCase(before?.[field] ?? '');
    const asBefore = isSame && (before?.[flag] ?? false);
    const isVerified = patch[flag] === undefined ? asBefore : (patch[flag] ?? false);
    if (isVerified && address === null) {
      issues.push({ path: [flag], message: `needs ${field}: there is no address to verify` });
    }
    return [flag, isVerified] as const;
  });
  if (issues.length > 0) throw new InvalidInputError(issues);
  return Object.fromEntries(states) as ReturnType<typeof verifiedAfter>;
}

/** The input of `createUser`. */
export type CreateUserInput = InputOf<typeof createUserInput>;

/** The field of a conflict with another user, by the unique index that refused it. */
export const userConflicts = {
  User_username_key: { path: ['username'], message: 'Another user has this user name.' },
  User_primaryEmail_key: {
    path: ['primaryEmail'],
    message: 'Another user has this e-mail address.',
  },
  User_primaryPhone_key: {
    path: ['primaryPhone'],
    message: 'Another user has this telephone number.',
  },
};
