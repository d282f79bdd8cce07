/** What a user may be called by. */
interface Named {
  readonly id: string;
  readonly name?: string | null;
  readonly username?: string | null;
  readonly primaryEmail?: string | null;
  readonly primaryPhone?: string | null;
}

/** The name that a user is shown under: never empty. */
export const shownName = ({ id, name, username, primaryEmail, primaryPhone }: Named): string =>
  name || username || primaryEmail || primaryPhone || id;
