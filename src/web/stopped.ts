import { html } from '../markup.ts';
import { type Content, goOn, type Look } from './page.ts';
import { sharedTexts } from './texts.ts';

/**
 * A page which says that the service cannot answer now, but may soon.
 *
 * @param retryUrl The URL to load again; absent if a repetition could do harm.
 */
export function unavailablePage({ language }: Look, retryUrl: string | undefined): Content {
  const t = sharedTexts[language];
  return {
    heading: t.unavailableTitle,
    lead: t.unavailable,
    body: retryUrl === undefined ? html`` : goOn(retryUrl, t.tryAgain),
  };
}

/**
 * A page which says that a request failed, with a link to try it again.
 *
 * @param status The HTTP status of the answer.
 */
export function failedPage({ language }: Look, retryUrl: string, status: number): Content {
  const t = sharedTexts[language];
  return {
    heading: t.failedTitle,
    lead: status < 500 ? t.refused : t.failed,
    body: goOn(retryUrl, t.tryAgain),
  };
}

/** A page that asks the person to wait, with a link to try again. */
export function waitPage({ language }: Look, retryUrl: string, seconds: number): Content {
  const t = sharedTexts[language];
  return {
    heading: t.waitTitle,
    lead: t.problem.WAIT(seconds),
    body: goOn(retryUrl, t.tryAgain),
  };
}
