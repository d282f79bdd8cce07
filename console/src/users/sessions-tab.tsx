import { Time } from '../kit/controls/time.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { useMessages } from '../kit/language/language.ts';
import { List, pageIn } from '../kit/lists/list-page.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { EmptyState } from '../kit/states/state.tsx';
import { toast } from '../kit/toasts.ts';
import { browserIn, systemIn } from './browser.ts';
import { EndUserSession, UserSessions } from './documents.ts';
import { userMessages } from './messages.ts';

/** The sessions of a user. */
export function SessionsTab({ id }: { id: string }) {
  const t = useMessages(userMessages);
  const canWrite = useCan('users:write');
  const browser = (userAgent: string | null | undefined) => {
    const name = browserIn(userAgent ?? '');
    const system = systemIn(userAgent ?? '');
    if (name && system) return t.browserOn(name, system);
    return name ?? system ?? t.unknownBrowser;
  };
  return (
    <Section title={t.tabs.sessions} about={t.sessionsAbout}>
      <List
        label={t.tabs.sessions}
        hasSearch={false}
        document={UserSessions}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ user }) => user?.sessions}
        columns={[
          {
            id: 'browser',
            header: t.browser,
            cell: ({ userAgent }) => (
              <span title={userAgent ?? undefined}>{browser(userAgent)}</span>
            ),
          },
          { id: 'ip', header: t.ip, from: 'medium', cell: ({ ip }) => <code>{ip}</code> },
          {
            id: 'methods',
            header: t.methods,
            from: 'wide',
            cell: ({ authenticationMethods }) => authenticationMethods.join(', '),
          },
          {
            id: 'lastActive',
            header: t.lastActive,
            isNarrow: true,
            cell: ({ lastActiveAt }) => <Time at={lastActiveAt} as="ago" />,
          },
          {
            id: 'startedAt',
            header: t.startedAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'end',
            header: '',
            isNarrow: true,
            cell: (session) =>
              canWrite && (
                <ConfirmAction
                  label={t.endSession}
                  title={t.endSessionTitle}
                  text={t.endSessionText}
                  document={EndUserSession}
                  input={{ userId: id, sessionId: session.id }}
                  onDone={() => toast.done(t.sessionEnded)}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={
          <EmptyState icon="experience" title={t.noSessions}>
            {t.noSessionsText}
          </EmptyState>
        }
      />
    </Section>
  );
}
