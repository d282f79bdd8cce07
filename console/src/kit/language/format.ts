import { useLanguage } from './language.ts';
import type { Language } from './messages.ts';

/** Formats times and numbers in a language. */
export interface Format {
  /** 21 Nov 2026, 10:32 */
  dateTime(iso: string): string;
  /** To the second, with the time zone: for tooltips and details. */
  exact(iso: string): string;
  /** 10:32:07.120, on another day than today 21 Nov, 10:32:07.120 */
  clock(iso: string): string;
  /** 10:32, on another day than today 21 Nov, 10:32 */
  soon(iso: string): string;
  /** 10:32, whatever the day */
  time(iso: string): string;
  /** 21 Nov */
  day(iso: string): string;
  /** 3 minutes ago */
  ago(iso: string): string;
  /** 7 days: how long it is until then, in the largest unit that has two of it */
  until(iso: string): string;
  number(value: number): string;
  /** +12 %: how a number has changed, as a part of what it was */
  change(part: number): string;
  /** 14 days: in the largest unit that divides it */
  duration(seconds: number): string;
  /** days */
  unit(name: DurationUnit): string;
  /** Orders, Billing and Shop */
  list(texts: readonly string[]): string;
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

/** The units in which a duration is shown, with their seconds. */
export const durationUnits = units.slice(2) as unknown as readonly DurationLength[];

/** A unit in which a duration is shown. */
type DurationUnit = 'day' | 'hour' | 'minute' | 'second';

type DurationLength = readonly [name: DurationUnit, seconds: number];

const largestOf = (seconds: number): DurationLength =>
  durationUnits.find(([, length]) => seconds % length === 0) ?? ['second', 1];

/** How many seconds the largest unit has that divides a duration. */
export const largestUnitOf = (seconds: number): number => largestOf(seconds)[1];

/** Makes something at its first use. */
function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

// Each of the browser's formatters takes milliseconds to make, and no page uses them all.
function formatOf(language: Language): Format {
  const locale = language === 'en' ? 'en-GB' : 'de-DE';
  const dates = (options: Intl.DateTimeFormatOptions) =>
    lazily(() => new Intl.DateTimeFormat(locale, options));
  const dateTime = dates({ dateStyle: 'medium', timeStyle: 'short' });
  const exact = dates({ dateStyle: 'long', timeStyle: 'long' });
  const toTheMinute = { hour: '2-digit', minute: '2-digit' } as const;
  const toTheMillisecond = {
    ...toTheMinute,
    second: '2-digit',
    fractionalSecondDigits: 3,
  } as const;
  const day = { day: 'numeric', month: 'short' } as const;
  const anyDay = dates({ ...day, year: 'numeric' });
  // On another day than today, the day stands before the time.
  const timeOf = (parts: Intl.DateTimeFormatOptions) => {
    const today = dates(parts);
    const otherDay = dates({ ...day, ...parts });
    return (iso: string) => {
      const at = new Date(iso);
      const isToday = anyDay().format(at) === anyDay().format(new Date());
      return (isToday ? today() : otherDay()).format(at);
    };
  };
  const time = dates(toTheMinute);
  const dayAndMonth = dates(day);
  const change = lazily(
    () =>
      new Intl.NumberFormat(locale, {
        style: 'percent',
        signDisplay: 'exceptZero',
        maximumFractionDigits: 0,
      }),
  );
  const relative = lazily(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
  const number = lazily(() => new Intl.NumberFormat(locale));
  const list = lazily(() => new Intl.ListFormat(locale));
  const inUnit = (unit: DurationUnit) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return {
    dateTime: (iso) => dateTime().format(new Date(iso)),
    exact: (iso) => exact().format(new Date(iso)),
    clock: timeOf(toTheMillisecond),
    soon: timeOf(toTheMinute),
    time: (iso) => time().format(new Date(iso)),
    day: (iso) => dayAndMonth().format(new Date(iso)),
    ago(iso) {
      const seconds = (Date.parse(iso) - Date.now()) / 1000;
      const [unit, length] =
        units.find(([, inSeconds]) => Math.abs(seconds) >= inSeconds) ?? (['second', 1] as const);
      return relative().format(Math.round(seconds / length), unit);
    },
    number: (value) => number().format(value),
    change: (part) => change().format(part),
    duration(seconds) {
      const [unit, length] = largestOf(seconds);
      return inUnit(unit).format(seconds / length);
    },
    until(iso) {
      const seconds = Math.max((Date.parse(iso) - Date.now()) / 1000, 0);
      const [unit, length] = durationUnits.find(
        ([, inSeconds]) => seconds >= 2 * inSeconds - 1,
      ) ?? ['second', 1];
      return inUnit(unit).format(Math.round(seconds / length));
    },
    unit: (name) =>
      inUnit(name)
        .formatToParts(2)
        .find(({ type }) => type === 'unit')?.value ?? name,
    list: (texts) => list().format(texts),
  };
}

/** The formats of the page's language. */
export function useFormat(): Format {
  const language = useLanguage();
  let format = formats.get(language);
  if (!format) {
    format = formatOf(language);
    formats.set(language, format);
  }
  return format;
}
