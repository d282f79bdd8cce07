import * as z from 'zod/mini';

/** A text that may not be blank; `message` says so. */
export const filledText = (message: string) => z.string().check(z.trim(), z.minLength(1, message));

interface Described {
  readonly name: string;
  readonly description: string;
}

/** The input for a new record: its name, and its description if there is one. */
export const newDescribed = ({ name, description }: Described) => ({
  name: name.trim(),
  ...(description.trim() ? { description: description.trim() } : {}),
});

/** The input for an existing record: an empty description removes the old one. */
export const changedDescribed = ({ name, description }: Described) => ({
  name: name.trim(),
  description: description.trim() || null,
});
