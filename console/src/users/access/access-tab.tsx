import { ActingFor } from './acting-for.tsx';
import { Grants } from './grants.tsx';
import { Identities } from './identities.tsx';
import { Tokens } from './tokens.tsx';

/** What signs the person in from elsewhere, and what acts for them. */
export const AccessTab = ({ id }: { id: string }) => (
  <>
    <Identities id={id} />
    <Tokens id={id} />
    <Grants id={id} />
    <ActingFor id={id} />
  </>
);
