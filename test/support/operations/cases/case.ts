import type { seedDirectory } from '../directory.ts';
import type { Maker } from '../maker.ts';
import type { Input } from '../operations.ts';

/** What creates things that no management operation creates. */
export type Seed = Pick<
  ReturnType<typeof seedDirectory>,
  'createSession' | 'createIdentity' | 'createFactor' | 'createGrant'
>;

/** A management operation, with the data that its tests need. */
export interface Case {
  /** The required scope. */
  readonly scope: string;
  /** Other required scopes. */
  readonly scopesBeside?: readonly string[];
  /** Whether what it opens is for callers with `all` alone: see src/auth/granting/openings.ts. */
  readonly opensAll?: boolean;
  /** Creates what the operation works on, and returns a valid input. */
  readonly given: (make: Maker, seed: Seed) => Promise<Input>;
  /** Replacements of one field each, with an invalid value. */
  readonly invalid?: readonly Input[];
  /** Creates a conflicting record, and returns the input's replacement and the reported field. */
  readonly duplicate?: (
    make: Maker,
    input: Input,
  ) => Promise<{ readonly replace: Input; readonly path: string }>;
  /** Replacements that name something missing, other than by id. */
  readonly missing?: Input;
}

/** Cases by the name of the mutation. */
export type Cases = Readonly<Record<string, Case>>;

/** An instant that is far enough away for tests that move the clock. */
export const inAYear = () => new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toISOString();
export const m2m = { type: 'MACHINE_TO_MACHINE' };
export const tooLong = 'x'.repeat(129);
export const tooLarge = { text: 'x'.repeat(70_000) };
export const webhookSecret = `whsec_${Buffer.alloc(32).toString('base64')}`;

/** More ids than an operation takes. */
export const tooMany = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}_${String(i).padStart(26, '0')}`);

/** An operation that takes only the id of a record. */
export const byId = (scope: string, create: (make: Maker) => Promise<string>): Case => ({
  scope,
  given: async (make) => ({ id: await create(make) }),
});

/** A conflict of names with another record of the kind. */
export const takenName =
  (kind: 'role' | 'organizationRole' | 'organizationScope'): NonNullable<Case['duplicate']> =>
  async (make) => {
    const name = make.next('taken');
    await make[kind]({ name });
    return { replace: { name }, path: 'name' };
  };
