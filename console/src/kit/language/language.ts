import { createStore, useStore } from '../store.ts';
import { type Language, languages } from './messages.ts';

const key = 'signet.console.language';

const isLanguage = (value: unknown): value is Language =>
  typeof value === 'string' && Object.hasOwn(languages, value);

const primary = (tag: string) => tag.toLowerCase().split('-')[0];

function initial(): Language {
  const chosen = localStorage.getItem(key);
  if (isLanguage(chosen)) return chosen;
  return [...navigator.languages].map(primary).find(isLanguage) ?? 'en';
}

/** The language of the page. */
export const language = createStore<Language>(initial());

const show = () => {
  document.documentElement.lang = language.get();
};
show();
language.subscribe(show);

/** Chooses a language, and remembers it in this browser. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(key, chosen);
  language.set(chosen);
}

/** Uses the language of the person's profile if none was chosen in this browser. */
export function suggestLanguage(locale: string | null | undefined): void {
  const suggested = locale ? primary(locale) : undefined;
  if (localStorage.getItem(key) === null && isLanguage(suggested)) language.set(suggested);
}

export const useLanguage = (): Language => useStore(language);

/** Texts in the language of the page. */
export const useMessages = <Texts>(messages: { readonly [L in Language]: Texts }): Texts =>
  messages[useLanguage()];
