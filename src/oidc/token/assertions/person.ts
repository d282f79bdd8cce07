import { ownReference, TokenFault } from '../../../auth/access-token.ts';
import { needsConsent } from '../../../auth/granting/consent.ts';
import { mayProve } from '../../../auth/granting/prove.ts';
import {
  coversEverything,
  inCommon,
  type SetterScopes,
} from '../../../auth/granting/setter-scopes.ts';
import { accountIndicator, ownIndicators } from '../../../auth/scopes.ts';
import { quietTransaction } from '../../../db/transaction.ts';
import { readFactorState } from '../../../factors/policy.ts';
import type { Target } from '../../../permissions/target.ts';
import type { Services } from '../../../services.ts';
import { readSettingsInForce } from '../../../sign-in-experience/in-force.ts';
import { withoutUnallowed } from '../../consent/asked.ts';
import type { SubjectState } from '../grant-state.ts';
import type { ForeignJwt } from '../keys/foreign-jwt.ts';
import { InvalidGrant, InvalidTarget } from '../oauth-errors.ts';
import { assertUser } from '../subject/subject.ts';
import type { KnownIssuer } from './issuers.ts';

/** A person for whom a verified identity assertion gets a token. */
interface AssertedPerson {
  readonly userId: string;
  /** The requested scopes that the person holds, and has allowed the application if people are asked. */
  readonly scopes: readonly string[];
  /** What everybody held who has set up what it takes. */
  readonly setters: readonly SetterScopes[];
  /** By virtue of what the application may have a token of the person: it ends with each of these. */
  readonly lineage: readonly string[];
}

const nobody = () => new InvalidGrant('assertion is refused: nobody here is linked to its subject');

/**
 * Asserts that a verified identity assertion is of a linked user, who may have a token by it. What its issuer says counts
 * as a sign-in by it would: not for users who hold more than whoever set it up, and it binds the others to that.
 *
 * @throws {InvalidGrant} {@link InvalidTarget}
 */
export async function assertPerson(
  { database }: Services,
  { claims: { iat, exp = 0 } }: ForeignJwt,
  { trusted, state, target }: { trusted: KnownIssuer; state: SubjectState; target: Target },
): Promise<AssertedPerson> {
  const { userId, grantId, isThirdParty, applicationSetterScopes, applicationType } = trusted;
  if (userId === null) throw nobody();
  try {
    assertUser(state, new Date((iat ?? exp - trusted.maxLifetimeSeconds) * 1000));
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    throw new InvalidGrant(`assertion is refused: ${error.message}`, { cause: error });
  }
  // As for a sign-in: see resource-servers.ts.
  if (isThirdParty && target.indicator === accountIndicator)
    throw new InvalidTarget('resource is not for applications of third parties');
  if (ownIndicators.has(target.indicator)) await assertNoFactor(database, userId);
  const setters = inCommon(trusted.setterScopes, trusted.providerSetterScopes ?? []);
  if (!coversEverything(setters)) {
    const isProof = await quietTransaction(database, (tx) => mayProve(tx, setters, userId));
    if (!isProof) throw nobody();
  }
  const application = {
    id: trusted.applicationId,
    type: applicationType,
    isThirdParty,
    setterScopes: [...applicationSetterScopes],
  };
  const request = { userId, application };
  const { indicator } = target;
  // What is allowed from this moment on would not end the token.
  const mayAllow = grantId !== null || !needsConsent(application, indicator);
  const held = mayAllow ? state.scopes : [];
  return {
    userId,
    scopes: await withoutUnallowed(database.tokens, request, indicator, held),
    setters: [setters, applicationSetterScopes],
    lineage: [
      ...(grantId === null ? [] : [grantId]),
      ...(isThirdParty ? [] : [ownReference(application.id)]),
    ],
  };
}

/**
 * Asserts that a sign-in by the issuer would be all that the person has to show. An assertion stands for no second
 * factor; what other APIs ask for is theirs.
 *
 * @throws {InvalidGrant}
 */
async function assertNoFactor({ prisma }: Services['database'], userId: string): Promise<void> {
  const settings = await readSettingsInForce(prisma, userId);
  const { usable, isRequired } = await readFactorState(prisma, settings, userId);
  if (usable.length > 0 || isRequired)
    throw new InvalidGrant('assertion is refused: the person needs a second factor here');
}
