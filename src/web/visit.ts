import type { Language } from '../languages.ts';
import type { VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { languageOf } from '../sign-in-experience/language.ts';
import type { SignInExperience } from '../sign-in-experience/settings.ts';
import type { FormFrame } from './form.ts';
import { formTokenOf } from './form-token.ts';
import type { Look } from './page.ts';
import type { SharedTexts } from './texts.ts';

/** One request of a browser to the pages of a site. */
export interface Visit<C extends VisitContext = VisitContext, T extends SharedTexts = SharedTexts> {
  readonly context: C;
  readonly settings: SignInExperience;
  readonly look: Look;
  /** The texts of the site, in the page's language. */
  readonly texts: T;
  /** The URL of the site's first page. The others are below it. */
  readonly base: string;
  /** Names the session that the forms belong to. */
  readonly formSubject: string;
  readonly csrfToken: string;
}

/**
 * Reads the data that every page of a site needs.
 *
 * @param site.path The path of the site's first page.
 * @param site.userId The person whom the pages are for, once they are known: what is in force for them is shown.
 * @param site.formSubject Names the session that the site's forms belong to. A form of another session is refused.
 */
export async function openVisit<C extends VisitContext, T extends SharedTexts>(
  context: C,
  site: {
    readonly path: string;
    readonly userId: string | null;
    readonly texts: Readonly<Record<Language, T>>;
    readonly formSubject: string;
  },
): Promise<Visit<C, T>> {
  const settings = await readSettingsInForce(context.database.prisma, site.userId);
  const language = languageOf(context, settings);
  return {
    context,
    settings,
    look: { branding: settings.branding, language },
    texts: site.texts[language],
    base: `${context.baseUrl}${site.path}`,
    formSubject: site.formSubject,
    csrfToken: formTokenOf(context, site.formSubject),
  };
}

/** The address and the token of a form that posts to a page of the site. */
export const formAt = (
  { base, csrfToken }: Pick<Visit, 'base' | 'csrfToken'>,
  path: string,
): FormFrame => ({ action: `${base}${path}`, csrfToken });
