import type { Services } from '../services.ts';
import { chooseLanguage } from '../sign-in-experience/language.ts';
import { defaultSignInExperience, readSignInExperience } from '../sign-in-experience/settings.ts';
import type { Look } from './page.ts';

/** The signs of the language that a person speaks. */
export interface Spoken {
  readonly acceptLanguage: string | undefined;
  readonly uiLocales?: unknown;
}

/** The look of the pages for one person: the operator's branding, in the person's language if Signet has it. */
export async function lookFor(
  { database }: Pick<Services, 'database'>,
  { uiLocales, acceptLanguage }: Spoken,
): Promise<Look> {
  const { branding, defaultLanguage } = await readSignInExperience(database.prisma);
  return { branding, language: chooseLanguage(uiLocales, acceptLanguage) ?? defaultLanguage };
}

/** Signet's own look, for a page about a failure: the database may be down. */
export const lookWithoutDatabase = ({ uiLocales, acceptLanguage }: Spoken): Look => ({
  branding: defaultSignInExperience.branding,
  language: chooseLanguage(uiLocales, acceptLanguage) ?? defaultSignInExperience.defaultLanguage,
});
