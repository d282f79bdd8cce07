import type { PageScript } from '../../html/page.ts';
import type { Texts } from '../pages/texts.ts';
import type { InteractionStep } from '../steps.ts';
import type { Problem } from './problem.ts';
import type { Visit } from './visit.ts';

/** A browser's request for a page. */
export interface PageRequest {
  readonly query: URLSearchParams;
  /** Empty unless the browser submitted the form. */
  readonly form: URLSearchParams;
  /** The problem with the submitted form, which is then shown again. */
  readonly problem?: Problem;
}

/** The result of a request: a page, a redirect within the interaction, data for a script, or the end. */
export type Answer =
  | { readonly markup: string; readonly script?: PageScript | undefined }
  | { readonly json: object }
  /** A path below the interaction's address. */
  | { readonly goTo: string }
  /** The URL of an identity provider. */
  | { readonly leaveTo: string }
  /** The person is known: the page of the next step, or the end. */
  | 'signed-in';

/** One page of an interaction: its content, and the action of its form. Both use the interaction's operations. */
export interface FormPage {
  /** A path below the interaction's address. */
  readonly path: string;
  /** The step between who the person is and the end that this page is for; absent before the person is known. */
  readonly step?: InteractionStep;
  /** Whether a person who is known may be here though the page is for none of the next steps. */
  readonly isOpen?: (visit: Visit) => boolean;
  /** The text for a failed verification on this page. */
  readonly wrong: (texts: Texts) => string;
  show(visit: Visit, request: PageRequest): Answer | Promise<Answer>;
  submit(visit: Visit, request: PageRequest): Promise<Answer>;
}
