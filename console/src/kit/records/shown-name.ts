/** The fields that can name a user. */
interface Named {
  readonly id: string;
  readonly name?: string | null;
  readonly username?: string | null;
  readonly primaryEmail?: string | null;
  readonly primaryPhone?: string | null;
}

/** The name to show for a user; never empty. */
export const shownName = ({ id, name, username, primaryEmail, primaryPhone }: Named): string =>
  name || username || primaryEmail || primaryPhone || id;
