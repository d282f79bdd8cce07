import type { Services } from '../../services.ts';
import { type Kept, once } from './once.ts';

/** Where a browser goes on. */
export type Redirection = (
  | {
      /** A path below the site's first page. */
      readonly goTo: string;
    }
  | {
      /** A URL outside the site. */
      readonly leaveTo: string;
    }
) & {
  readonly cookies?: string[];
  /**
   * How long the same form is answered by it, in seconds; by default as its site says. With 0 it answers those alone who
   * wait for it, with null nobody: each time it is another.
   */
  readonly standsSeconds?: number | null;
};

/** A submitted form. */
export interface SentForm {
  /** Names the session that it belongs to. */
  readonly subject: string;
  /** The path and the query that it was posted to. */
  readonly target: string;
  readonly values: URLSearchParams;
  /** How long its answer stands, in seconds, where the answer does not say so. */
  readonly standsSeconds: number;
}

/**
 * Answers a form that a browser sends twice (a double click, Back and once more) as it was answered the first time: its
 * step is done, and doing it again would fail, or use something up again. It holds for the form that was the last to be
 * answered in its session by a redirect. Whoever comes while the first is still being answered waits for it.
 *
 * A refused form, and one that is answered by a page, is answered anew each time.
 */
export function answerOnce<Other extends object>(
  services: Pick<Services, 'database' | 'cipher' | 'clock'>,
  { subject, target, values, standsSeconds }: SentForm,
  work: () => Promise<Other | Redirection>,
): Promise<Other | Redirection> {
  const sent = { subject, target, values: [...values].filter(([name]) => name !== 'csrf') };
  return once<Other | Redirection>(services, sent, work, {
    kept: (answer) => keptOf(answer, standsSeconds),
    read: (kept) => kept as Redirection,
  });
}

/** What is kept of an answer: without its cookies, which may be secret. */
function keptOf(answer: object | Redirection, byDefault: number): Kept | undefined {
  if (!('goTo' in answer || 'leaveTo' in answer)) return undefined;
  const { cookies: _with, standsSeconds = byDefault, ...where } = answer;
  return { answer: where, standsSeconds };
}
