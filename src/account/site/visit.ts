import type { User } from '../../generated/prisma/client.ts';
import type { ViewerContext } from '../../services.ts';
import type { Page } from '../../web/site.ts';
import type { Visit } from '../../web/visit.ts';
import type { AccountTexts } from './texts.ts';

/** One request of a signed-in browser to the pages of the account. */
export interface AccountVisit extends Visit<ViewerContext, AccountTexts> {
  readonly user: User;
}

/** One page of the account. */
export interface AccountPage extends Page<AccountVisit> {
  /** Whether the person has to prove first who they are. */
  readonly needsProof?: boolean;
}
