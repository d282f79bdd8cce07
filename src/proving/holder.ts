import type { Told } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';
import type { Context, VisitContext } from '../services.ts';

/**
 * Who proves something, and where: a person in the interaction of their sign-in, or a signed-in person in a session.
 * The steps in this folder are the same for both. The holder finds and locks the person, decides what they may do, and
 * records what they have proved.
 */
export interface Holder {
  /** The id of the interaction or of the session. What began there can only end there. */
  readonly id: string;
  /** The application that the person signs in to, or through which they act. */
  readonly applicationId: string;
  readonly context: VisitContext;

  /** Finds the person; null while nobody is known. */
  findPerson(): Promise<User | null>;

  /**
   * Reads the person, before a guess is counted or a challenge used up. {@link enroll} decides again, under the lock.
   *
   * @param to What they are about to do with a factor.
   * @throws {NotAllowedError} when that is not the next step, or nobody is known; {@link VerificationRequiredError}
   */
  readPerson(to: 'ENROLL' | 'SHOW'): Promise<User>;

  /**
   * Does a step of an enrolment in a transaction, with the person locked.
   *
   * @throws {NotAllowedError} {@link VerificationRequiredError} when the person may not add a factor; nothing was done.
   */
  enroll<T>(work: (tx: Transaction, person: Enrolling) => Promise<Told<T>>): Promise<T>;

  /**
   * Records that a person has shown a factor, in the transaction that uses it up.
   *
   * @param take Uses the factor up. False if it proves nothing.
   * @returns False also if the interaction is another person's by now; nothing was used up then.
   */
  show(factor: ShownFactor, take: (tx: Transaction) => Promise<boolean>): Promise<boolean>;
}

/** A person who adds a factor. */
interface Enrolling {
  readonly userId: string;
  /** The {@link Holder.id}. */
  readonly holder: string;
  /** The language of the message to the person; by default that of the settings. */
  readonly language: Language | undefined;
  /** The actor in it is the person. */
  readonly context: Context;
  /** Records that the new factor was shown. */
  readonly recordShown: (methods: readonly string[]) => Promise<void>;
}

/** A factor that a person shows. */
interface ShownFactor {
  readonly userId: string;
  /** Authentication method references (RFC 8176), without `mfa`. */
  readonly methods: readonly string[];
  /** Whether it is the only step of the sign-in: nobody was known before. */
  readonly isOnlyStep: boolean;
}
