import type { User } from '../generated/prisma/client.ts';
import type { Guess } from '../protection/attempts.ts';
import { readDevice } from '../protection/device.ts';
import { type Identifier, identifiersOf } from '../protection/identifier.ts';
import type { SignInMethod } from '../protection/refusals/failed-sign-in.ts';
import type { VisitContext } from '../services.ts';

type GuessedMethod = Exclude<SignInMethod, 'PROVIDER'>;

const checks = {
  PASSWORD: 'password',
  CODE: 'code',
  ONE_TIME_TOKEN: 'one-time-token',
  TOTP: 'factor',
  PASSKEY: 'factor',
  BACKUP_CODE: 'factor',
} as const satisfies Record<GuessedMethod, Guess['check']>;

/** Who guesses, and where. */
interface Guessing {
  /** The application that the person signs in to, or through which they act. */
  readonly applicationId: string;
  /**
   * The person whom the identifier names, if any: a browser in which they signed in before has its own counter.
   */
  readonly userId: string | undefined;
  /** Whether nothing else was proved before; by default unless it is a second factor. */
  readonly isOnlyStep?: boolean;
}

/** A guess at what proves to be the owner of an identifier. */
export function guessAt(
  context: VisitContext,
  method: GuessedMethod,
  identifier: Identifier,
  { applicationId, userId, isOnlyStep = checks[method] !== 'factor' }: Guessing,
): Guess {
  const reason = isOnlyStep ? 'CREDENTIAL' : 'FACTOR';
  return {
    ...identifier,
    check: checks[method],
    device: readDevice(context, context.visitor.cookies, userId),
    told: { method, reason, userId: userId ?? null, applicationId },
  };
}

/** A guess at something of a person who is known, by {@link countingIdentifier}. */
export const guessOf = (
  context: VisitContext,
  method: GuessedMethod,
  user: User,
  where: Omit<Guessing, 'userId'>,
): Guess => guessAt(context, method, countingIdentifier(user), { ...where, userId: user.id });

/** A guess at a code of an authenticator app that a person adds. It proves nothing about them. */
export const enrollmentGuessOf = (context: VisitContext, user: User): Guess => ({
  ...countingIdentifier(user),
  check: 'enrollment',
  device: readDevice(context, context.visitor.cookies, user.id),
});

/**
 * The identifier by which guesses at something of a known person count, whichever they signed in with: the user name,
 * else the e-mail address, else the telephone number.
 */
function countingIdentifier(user: User): Identifier {
  // Without any identifier, the id still separates people. No telephone number looks like one.
  const [identifier = { type: 'phone' as const, value: user.id }] = identifiersOf(user);
  return { type: identifier.type, value: identifier.value };
}
