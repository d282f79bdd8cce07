import { useFormat } from '../language/format.ts';

/** A time in short form; the exact time is its tooltip. */
export function Time({
  at,
  as = 'dateTime',
}: {
  at: string;
  as?: 'dateTime' | 'ago' | 'clock' | 'soon';
}) {
  const format = useFormat();
  return (
    <time dateTime={at} title={format.exact(at)}>
      {format[as](at)}
    </time>
  );
}
