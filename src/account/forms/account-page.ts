import type { Problem } from '../../experience/forms/problem.ts';
import type { Texts } from '../../experience/pages/texts.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Look, PageScript } from '../../html/page.ts';
import type { ViewerContext } from '../../services.ts';
import type { SignInExperience } from '../../sign-in-experience/settings.ts';
import type { AccountTexts } from '../pages/texts.ts';

/** One request of a browser to the pages of the own account. */
export interface AccountVisit {
  readonly context: ViewerContext;
  readonly user: User;
  readonly settings: SignInExperience;
  readonly look: Look;
  readonly texts: AccountTexts;
  /** The texts of the sign-in pages. */
  readonly common: Texts;
  /** The URL of the first page. The others are below it. */
  readonly base: string;
  readonly csrfToken: string;
}

/** A browser's request for a page. */
export interface AccountRequest {
  readonly query: URLSearchParams;
  /** Empty unless the browser submitted the form. */
  readonly form: URLSearchParams;
  /** The problem with the submitted form, which is then shown again. */
  readonly problem?: Problem;
}

/** The result of a request: a page, data for its script, a redirect below the first page, or the end of the session. */
export type AccountAnswer =
  | { readonly markup: string; readonly script?: PageScript | undefined }
  | { readonly json: object }
  | { readonly goTo: string }
  /** The URL of another service. */
  | { readonly goOutTo: string }
  | { readonly leaveTo: string };

/** One page of the account: its content, and the action of its form. */
export interface AccountPage {
  /** A path below `/account`. */
  readonly path: string;
  /** Whether the person has to prove first who they are. */
  readonly needsProof?: boolean;
  /** The text for a failed verification on this page; absent: the usual one. */
  readonly wrong?: (visit: AccountVisit, request: AccountRequest) => string;
  readonly show: (visit: AccountVisit, request: AccountRequest) => Promise<AccountAnswer>;
  readonly submit?: (visit: AccountVisit, request: AccountRequest) => Promise<AccountAnswer>;
}
