/** The languages of the console. */
export const languages = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof languages;

type Message = string | ((...values: never[]) => string);

// A translation takes the same values as the English text; a text is any text.
type Translated<Messages> = {
  readonly [Key in keyof Messages]: Messages[Key] extends (...values: infer Values) => string
    ? (...values: Values) => string
    : Messages[Key] extends string
      ? string
      : Translated<Messages[Key]>;
};

interface Catalogue {
  readonly [key: string]: Message | Catalogue;
}

/** The texts of one part of the console, in each language. */
export type Messages<English> = { readonly en: English; readonly de: Translated<English> };

/** Declares texts. German must have all that English has. */
export const defineMessages = <const English extends Catalogue>(
  messages: Messages<English>,
): { readonly [L in Language]: Translated<English> } => messages as never; // English is its own translation.
