import { useLanguage } from './language.ts';
import type { Language } from './messages.ts';

/** Writes times and numbers as a language does. */
export interface Format {
  /** 21 Nov 2026, 10:32 */
  dateTime(iso: string): string;
  /** To the second, with the zone: for titles and details. */
  exact(iso: string): string;
  /** 10:32:07.120 */
  clock(iso: string): string;
  /** 3 minutes ago */
  ago(iso: string): string;
  number(value: number): string;
}

const formats = new Map<Language, Format>();

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

function formatOf(language: Language): Format {
  const locale = language === 'en' ? 'en-GB' : 'de-DE';
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'long' });
  const clock = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const number = new Intl.NumberFormat(locale);
  return {
    dateTime: (iso) => dateTime.format(new Date(iso)),
    exact: (iso) => exact.format(new Date(iso)),
    clock: (iso) => clock.format(new Date(iso)),
    ago(iso) {
      const seconds = (Date.parse(iso) - Date.now()) / 1000;
      const [unit, length] =
        units.find(([, inSeconds]) => Math.abs(seconds) >= inSeconds) ?? (['second', 1] as const);
      return relative.format(Math.round(seconds / length), unit);
    },
    number: (value) => number.format(value),
  };
}

/** How times and numbers are written in the language of the page. */
export function useFormat(): Format {
  const language = useLanguage();
  let format = formats.get(language);
  if (!format) {
    format = formatOf(language);
    formats.set(language, format);
  }
  return format;
}
