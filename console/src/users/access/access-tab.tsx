import { ActingFor } from './acting-for.tsx';
import { Grants } from './grants.tsx';
import { Identities } from './identities.tsx';
import { Tokens } from './tokens.tsx';

/** The user's identities, tokens, allowed applications and impersonations. */
export const AccessTab = ({ id }: { id: string }) => (
  <>
    <Identities id={id} />
    <Tokens id={id} />
    <Grants id={id} />
    <ActingFor id={id} />
  </>
);
