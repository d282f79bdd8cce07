import type { Services } from '../services.ts';
import { chooseLanguage } from '../sign-in-experience/language.ts';
import { defaultSignInExperience, readSignInExperience } from '../sign-in-experience/settings.ts';
import type { Look } from './page.ts';

/** What tells which language a person speaks. */
export interface Spoken {
  readonly acceptLanguage: string | undefined;
  readonly uiLocales?: unknown;
}

/** The look of the pages for one person: as the operator has set it, in the person's language where it is spoken here. */
export async function lookFor(
  { database }: Pick<Services, 'database'>,
  { uiLocales, acceptLanguage }: Spoken,
): Promise<Look> {
  const { branding, defaultLanguage } = await readSignInExperience(database.prisma);
  return { branding, language: chooseLanguage(uiLocales, acceptLanguage) ?? defaultLanguage };
}

/** The look of a page that tells of a failure, which may be the database's: Signet's own. */
export const lookWithoutDatabase = ({ uiLocales, acceptLanguage }: Spoken): Look => ({
  branding: defaultSignInExperience.branding,
  language: chooseLanguage(uiLocales, acceptLanguage) ?? defaultSignInExperience.defaultLanguage,
});
