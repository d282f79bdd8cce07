import { Badge } from '../kit/controls/badge.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { webhookMessages } from './messages.ts';

/** The state of a webhook. */
export function StateOf({
  enabled,
  failingSince,
  disabledReason,
}: {
  enabled: boolean;
  failingSince?: string | null | undefined;
  disabledReason?: string | null | undefined;
}) {
  const t = useMessages(webhookMessages);
  if (enabled && failingSince)
    return (
      <Badge tone="bad" hasDot>
        {t.failingSince} <Time at={failingSince} as="soon" />
      </Badge>
    );
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
