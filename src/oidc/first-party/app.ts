/** A web app of the service itself, to which people sign in as to any other application. */
export interface FirstPartyApp {
  /** Its first path segment, and the middle of its cookies' names. */
  readonly name: string;
  readonly applicationId: string;
  /** The API that its sessions may use, as a token's `aud` would name it. */
  readonly audience: string;
  /** The scopes of its sessions; absent: those of the person's roles. */
  readonly scopes?: ReadonlySet<string>;
  /** The `SameSite` attribute of the session's cookie. */
  readonly sameSite: 'Strict' | 'Lax';
  /** How long a session lasts without a request that a person caused, in seconds; absent: until it ends anyway. */
  readonly idleSeconds?: number;
  /** The names of paths that are not pages to come back to, below the app's own. */
  readonly notPages: readonly string[];
}

/** The path of an app's pages, below the public URL's. */
export const rootOf = ({ name }: Pick<FirstPartyApp, 'name'>): string => `/${name}`;
