import type { ReactNode } from 'react';
import { Provider } from 'urql';
import { client } from '../api/client.ts';
import { type Session, SessionContext } from '../session/session.ts';

/** Gives what is inside the session: who is signed in, and the client of the API. */
export const SessionRoute = ({ session, children }: { session: Session; children: ReactNode }) => (
  <SessionContext value={session}>
    <Provider value={client}>{children}</Provider>
  </SessionContext>
);
