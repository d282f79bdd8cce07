import { Badge } from '../controls/badge.tsx';
import { useMessages } from '../language/language.ts';
import { webhookMessages } from './messages.ts';

/** Whether a webhook gets its events. */
export function StateOf({
  enabled,
  disabledReason,
}: {
  enabled: boolean;
  disabledReason?: string | null | undefined;
}) {
  const t = useMessages(webhookMessages);
  if (enabled)
    return (
      <Badge tone="good" hasDot>
        {t.enabled}
      </Badge>
    );
  return (
    <Badge tone={disabledReason ? 'bad' : 'plain'} hasDot>
      {t.disabled}
    </Badge>
  );
}
