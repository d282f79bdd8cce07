import type { languages } from '../../languages.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import type { MessageTemplate, Wording } from './wording.ts';

/** A language of messages. */
export type MessageLanguage = (typeof languages)[number];

/** The texts of each template, by language. */
export const wordings: Readonly<Record<MessageLanguage, Record<MessageTemplate, Wording>>> = {
  en,
  de,
};
