import { createContext, useContext } from 'react';
import { servicePath } from '../service-url.ts';

/** Who is signed in, and what they may do. */
export interface Session {
  readonly user: {
    readonly id: string;
    readonly username: string | null;
    readonly name: string | null;
    readonly primaryEmail: string | null;
    readonly avatar: string | null;
  };
  readonly scopes: readonly string[];
  readonly expiresAt: string;
  readonly locale?: string | null;
}

/** The areas of the API that have a read and a write scope. */
export type Area =
  | 'users'
  | 'roles'
  | 'resources'
  | 'applications'
  | 'organizations'
  | 'webhooks'
  | 'experience';

/** A scope of the management API. `all` covers every other, and a write scope the read. */
export type Scope = 'all' | 'events:read' | `${Area}:read` | `${Area}:write`;

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session of whoever looks at the page. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('no session: this component stands outside the shell');
  return session;
}

/** Whether scopes cover one. */
export const covers = (held: readonly string[], scope: Scope): boolean =>
  held.includes('all') ||
  held.includes(scope) ||
  (scope.endsWith(':read') && held.includes(scope.replace(':read', ':write')));

/** Whether the person's scopes cover one. */
export const useCan = (scope: Scope): boolean => covers(useSession().scopes, scope);

/** The session, or undefined where there is none. */
export async function fetchSession(): Promise<Session | undefined> {
  const response = await fetch(`${servicePath}/console/session`, {
    headers: { accept: 'application/json' },
  });
  if (response.status === 401) return undefined;
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()) as Session;
}
