import type { Texts } from '../pages/texts.ts';
import type { Problem } from './problem.ts';
import type { Visit } from './visit.ts';

/** What a browser sent to a page. */
export interface PageRequest {
  readonly query: URLSearchParams;
  /** Empty where the page is only looked at. */
  readonly form: URLSearchParams;
  /** What went wrong with the form, where it is shown again. */
  readonly problem?: Problem;
}

/** What comes of a request: a page, another page of the interaction, or its end. */
export type Answer =
  | { readonly markup: string }
  /** Below the interaction's address. */
  | { readonly goTo: string }
  | 'signed-in';

/** One page of an interaction: what it shows, and what its form does. Both rest on the interaction's operations. */
export interface FormPage {
  /** Below the interaction's address. */
  readonly path: string;
  /** What a failed verification is called here. */
  readonly wrong: (texts: Texts) => string;
  show(visit: Visit, request: PageRequest): Answer;
  submit(visit: Visit, request: PageRequest): Promise<Answer>;
}
