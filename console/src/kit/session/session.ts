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
type Area =
  | 'users'
  | 'roles'
  | 'resources'
  | 'applications'
  | 'organizations'
  | 'webhooks'
  | 'experience';

/** A scope of the management API. `all` covers every other; a write scope covers the read scope. */
export type Scope = 'all' | 'events:read' | `${Area}:read` | `${Area}:write`;

export const SessionContext = createContext<Session | undefined>(undefined);

/** The person's session. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('no session: this component stands outside the shell');
  return session;
}

/** Whether scopes include a scope, or all of several. */
export const covers = (held: readonly string[], scope: Scope | readonly Scope[]): boolean =>
  [scope]
    .flat()
    .every(
      (one) =>
        held.includes('all') ||
        held.includes(one) ||
        (one.endsWith(':read') && held.includes(one.replace(':read', ':write'))),
    );

/** The scopes that reading the configuration as a document takes, all of them. */
export const configurationScopes = [
  'resources:read',
  'roles:read',
  'organizations:read',
  'applications:read',
  'webhooks:read',
  'experience:read',
] as const satisfies readonly Scope[];

/** Whether the person's scopes include a scope, or all of several. */
export const useCan = (scope: Scope | readonly Scope[]): boolean =>
  covers(useSession().scopes, scope);

/** The session; undefined if there is none. */
export async function fetchSession(): Promise<Session | undefined> {
  // As the page's own header has it: what came ahead of the scripts is taken only by a request that is the same.
  const response = await fetch(`${servicePath}/console/session`);
  if (response.status === 401) return undefined;
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()) as Session;
}
