/** The languages that pages and messages speak. */
export const languages = ['en', 'de'] as const;

/** A language that pages and messages speak. */
export type Language = (typeof languages)[number];
