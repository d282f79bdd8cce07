import { Button } from '../../kit/controls/button.tsx';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { filterMessages } from './messages.ts';

/** An instant of the address; undefined if it is none. */
export const instantIn = (text: string | undefined): string | undefined =>
  text !== undefined && !Number.isNaN(Date.parse(text)) ? text : undefined;

/** The span of time that a list is limited to, and the way to leave it. */
export function TimeFilter({
  since,
  until,
  onClear,
}: {
  since: string | undefined;
  until: string | undefined;
  onClear: () => void;
}) {
  const t = useMessages(filterMessages);
  const format = useFormat();
  if (!since && !until) return null;
  const text =
    since && until
      ? t.between(format.soon(since), format.soon(until))
      : since
        ? t.since(format.soon(since))
        : t.until(format.soon(until ?? ''));
  return (
    <Button icon="close" aria-label={t.clearTime(text)} onClick={onClear}>
      {text}
    </Button>
  );
}
