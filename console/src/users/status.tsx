import { Badge } from '../kit/controls/badge.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { userMessages } from './messages.ts';

/** Whether a user may sign in. */
export function Status({
  user: { isSuspended, lockedUntil },
}: {
  user: { readonly isSuspended: boolean; readonly lockedUntil?: string | null | undefined };
}) {
  const t = useMessages(userMessages);
  if (isSuspended)
    return (
      <Badge tone="bad" hasDot>
        {t.suspended}
      </Badge>
    );
  if (lockedUntil)
    return (
      <Badge tone="warn" hasDot>
        {t.lockedUntil} <Time at={lockedUntil} as="soon" />
      </Badge>
    );
  return (
    <Badge tone="good" hasDot>
      {t.active}
    </Badge>
  );
}
