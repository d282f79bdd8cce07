import type { Choosable } from './application-field.tsx';
import { Connections } from './connections.tsx';
import { TrustedIssuers } from './trusted-issuers.tsx';

/** Whose tokens count here, and where applications may take their people: of all applications, or of one. */
export const TrustTab = ({ of }: { of?: Choosable }) => (
  <>
    <TrustedIssuers of={of} />
    <Connections of={of} />
  </>
);
