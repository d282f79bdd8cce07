import {
  type DigestParameters,
  type ImportedPasswordAlgorithm,
  parametersOf,
} from './imported-password.ts';

// The defaults of other systems, and what OWASP and RFC 9106 advise, are below these. The costliest digest of each
// algorithm takes about a second of one core.
const most = {
  argon2: { memoryKiB: 262_144, workKiB: 1_048_576, passes: 32, lanes: 32 },
  bcrypt: 14,
  pbkdf2: 2_000_000,
  scrypt: 2_097_152,
};

const argon2Bound = `m up to ${most.argon2.memoryKiB}, m × t up to ${most.argon2.workKiB}, t up to ${most.argon2.passes}, p up to ${most.argon2.lanes}`;

/** The most work that an imported digest may require, by algorithm. Plain hashes have no bound. */
export const digestBounds: Partial<Record<ImportedPasswordAlgorithm, string>> = {
  Argon2i: argon2Bound,
  Argon2d: argon2Bound,
  Argon2id: argon2Bound,
  Bcrypt: `a cost up to ${most.bcrypt}`,
  PBKDF2: `up to ${most.pbkdf2} iterations, for all blocks of the hash together`,
  Scrypt: `2^ln × r × p up to ${most.scrypt}`,
};

/** Whether a digest requires no more work than {@link digestBounds} allow. */
export function isWithinBounds(digest: string): boolean {
  const asked = parametersOf(digest);
  switch (asked.kind) {
    case 'argon2': {
      const { m, t, p } = asked;
      const { memoryKiB, workKiB, passes, lanes } = most.argon2;
      return m <= memoryKiB && m * t <= workKiB && t <= passes && p <= lanes;
    }
    case 'bcrypt':
      return asked.cost <= most.bcrypt;
    case 'pbkdf2':
      return asked.iterations <= most.pbkdf2;
    case 'scrypt':
      return asked.N * asked.r * asked.p <= most.scrypt;
    case 'hash':
      return true;
  }
}

// Measured on the machine of README's figures. Only the order of digests matters, and which are equal.
const perMillisecond = {
  argon2: 2_700,
  bcrypt: 17,
  scrypt: 3_000,
  pbkdf2: { sha1: 2_300, sha256: 5_000, sha512: 1_700 },
};

/** About how long a digest takes to check, in milliseconds of one core, rounded up. */
export const costOf = (digest: string): number => Math.ceil(millisecondsOf(parametersOf(digest)));

function millisecondsOf(asked: DigestParameters): number {
  switch (asked.kind) {
    case 'argon2':
      return (asked.m * asked.t) / perMillisecond.argon2;
    case 'bcrypt':
      return 2 ** asked.cost / perMillisecond.bcrypt;
    case 'pbkdf2':
      return asked.iterations / perMillisecond.pbkdf2[asked.prf];
    case 'scrypt':
      return (asked.N * asked.r * asked.p) / perMillisecond.scrypt;
    case 'hash':
      return 0;
  }
}
