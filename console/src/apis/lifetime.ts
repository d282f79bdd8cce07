import { useMessages } from '../language/language.ts';
import { apiPageMessages } from './messages.ts';

/** The longest lifetime that the API takes. */
export const longestSeconds = 2_592_000;

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Writes a lifetime in the largest unit that leaves no rest: 3600 is 1 hour, 90 is 90 seconds. */
export function useLifetime(): (seconds: number) => string {
  const { units: texts } = useMessages(apiPageMessages);
  return (seconds) => {
    const [unit, length] = units.find(([, inSeconds]) => seconds % inSeconds === 0) ?? units[3];
    return texts[unit](seconds / length);
  };
}

/** Whether an API is Signet's own. */
export const isOwn = (indicator: string): boolean => indicator.startsWith('urn:signet:');
