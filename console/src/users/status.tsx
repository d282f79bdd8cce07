import { Badge } from '../controls/badge.tsx';
import { useMessages } from '../language/language.ts';
import { userMessages } from './messages.ts';

/** Whether a user may sign in. */
export function Status({ isSuspended }: { isSuspended: boolean }) {
  const t = useMessages(userMessages);
  return isSuspended ? (
    <Badge tone="bad" hasDot>
      {t.suspended}
    </Badge>
  ) : (
    <Badge tone="good" hasDot>
      {t.active}
    </Badge>
  );
}
