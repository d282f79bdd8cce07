import { useFormat } from '../language/format.ts';

/** A moment, short; the exact time is its title. */
export function Time({ at, as = 'dateTime' }: { at: string; as?: 'dateTime' | 'ago' | 'clock' }) {
  const format = useFormat();
  return (
    <time dateTime={at} title={format.exact(at)}>
      {format[as](at)}
    </time>
  );
}
