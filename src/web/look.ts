import type { FastifyRequest } from 'fastify';
import type { Language } from '../languages.ts';
import type { Services } from '../services.ts';
import { chooseLanguage } from '../sign-in-experience/language.ts';
import { defaultSignInExperience, readSignInExperience } from '../sign-in-experience/settings.ts';
import { chosenLanguage } from './languages/choice.ts';
import type { Look } from './page.ts';

/** The languages that a person asks for. */
export interface Spoken {
  /** What they have chosen on a page. */
  readonly chosen: Language | undefined;
  readonly acceptLanguage: string | undefined;
  readonly uiLocales?: unknown;
}

/** The language that a browser asks for. */
export const spokenBy = ({ headers }: Pick<FastifyRequest, 'headers'>): Spoken => ({
  chosen: chosenLanguage(headers.cookie),
  acceptLanguage: headers['accept-language'],
});

const languageFor = ({ chosen, uiLocales, acceptLanguage }: Spoken): Language | undefined =>
  chosen ?? chooseLanguage(uiLocales, acceptLanguage);

/** The look of the pages for one person: the operator's branding, in the person's language if Signet has it. */
export async function lookFor(
  { database }: Pick<Services, 'database'>,
  spoken: Spoken,
): Promise<Look> {
  const { branding, defaultLanguage } = await readSignInExperience(database.prisma);
  return { branding, language: languageFor(spoken) ?? defaultLanguage };
}

/** Signet's own look, for a page about a failure: the database may be down. */
export const lookWithoutDatabase = (spoken: Spoken): Look => ({
  branding: defaultSignInExperience.branding,
  language: languageFor(spoken) ?? defaultSignInExperience.defaultLanguage,
});
