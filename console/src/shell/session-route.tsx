import type { ReactNode } from 'react';
import { Provider } from 'urql';
import { client } from '../kit/api/client.ts';
import { type Session, SessionContext } from '../kit/session/session.ts';

/** Provides the session and the API client to the pages inside. */
export const SessionRoute = ({ session, children }: { session: Session; children: ReactNode }) => (
  <SessionContext value={session}>
    <Provider value={client}>{children}</Provider>
  </SessionContext>
);
