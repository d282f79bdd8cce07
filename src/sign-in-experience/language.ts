import { type Language, languages } from '../languages.ts';
import type { Visitor } from '../services.ts';
import type { SignInExperience } from './settings.ts';

const longest = 1024;

const spoken = (tag: string): Language | undefined =>
  languages.find((language) => language === tag.trim().toLowerCase().split('-')[0]);

/**
 * The language to use with a person; undefined if none of their languages is supported.
 *
 * @param uiLocales The application's request: tags separated by spaces, in order of preference (OpenID Connect Core
 *   §3.1.2.1).
 * @param acceptLanguage The browser's request (RFC 9110 §12.5.4).
 */
export const chooseLanguage = (
  uiLocales: unknown,
  acceptLanguage: string | undefined,
): Language | undefined =>
  [
    ...(typeof uiLocales === 'string' ? uiLocales.slice(0, longest).split(' ') : []),
    ...byQuality((acceptLanguage ?? '').slice(0, longest)),
  ]
    .map(spoken)
    .find((language) => language !== undefined);

function byQuality(header: string): string[] {
  const ranges = header.split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { tag, quality: quality === undefined ? 1 : Number(quality) };
  });
  return ranges
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}

/** The language to use with a person: their own if it is supported. */
export const languageOf = (
  { visitor }: { readonly visitor: Pick<Visitor, 'language'> },
  { defaultLanguage }: Pick<SignInExperience, 'defaultLanguage'>,
): Language => visitor.language ?? defaultLanguage;
