import { Notice } from '../kit/controls/notice.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { useMessages } from '../kit/language/language.ts';
import { shownName } from '../kit/records/shown-name.ts';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { UpdateUser } from './documents.ts';
import { userMessages } from './messages.ts';
import type { ShownUser } from './profile-tab.tsx';

/** Says that a user's rights are limited, because somebody with fewer rights changed how they sign in. */
export function Vouch({ user }: { user: ShownUser }) {
  const t = useMessages(userMessages);
  const mayVouch = useCan('all');
  if (user.isVouchedFor) return null;
  const name = shownName(user);
  return (
    <Notice
      tone="warn"
      title={t.limited}
      action={
        mayVouch && (
          <ConfirmAction
            label={t.vouch}
            title={t.vouchTitle(name)}
            text={t.vouchText}
            document={UpdateUser}
            input={{ id: user.id, isVouchedFor: true }}
            onDone={() => toast.done(t.isVouchedFor(name))}
          />
        )
      }
    >
      {t.limitedTo(user.setterScopes.join(', '))}
    </Notice>
  );
}
