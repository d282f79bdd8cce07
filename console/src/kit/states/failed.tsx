import type { CombinedError } from '@urql/core';
import { Button, ButtonLink } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import { stateMessages } from './messages.ts';
import { EmptyState } from './state.tsx';

/** Says that a query failed, with a button to try again. */
export function Failed({ error, onRetry }: { error: CombinedError; onRetry: () => void }) {
  const t = useMessages(stateMessages);
  const [refused] = error.graphQLErrors;
  const scope = refused?.extensions['requiredScope'];
  if (refused?.extensions['code'] === 'FORBIDDEN') return <Forbidden scope={String(scope)} />;
  return (
    <div role="alert">
      <EmptyState
        icon="warning"
        title={t.failedTitle}
        action={
          <Button icon="refresh" onClick={onRetry}>
            {t.tryAgain}
          </Button>
        }
      >
        {refused?.message ?? t.unreachable}
      </EmptyState>
    </div>
  );
}

/** Says that the person's scopes do not allow a page. */
export function Forbidden({ scope }: { scope: string }) {
  const t = useMessages(stateMessages);
  return (
    <EmptyState icon="roles" title={t.forbiddenTitle}>
      {t.forbiddenText(scope)}
    </EmptyState>
  );
}

/** Says that a record does not exist, or with `isPage` a page. */
export function NotFound({ isPage = false }: { isPage?: boolean }) {
  const t = useMessages(stateMessages);
  return (
    <EmptyState
      isPage={isPage}
      icon="search"
      title={t.notFoundTitle}
      action={<ButtonLink to="/">{t.toOverview}</ButtonLink>}
    >
      {t.notFoundText}
    </EmptyState>
  );
}

/** Says that a component threw an error. */
export function Broken() {
  const t = useMessages(stateMessages);
  return (
    <div role="alert">
      <EmptyState
        isPage
        icon="warning"
        title={t.brokenTitle}
        action={
          <Button icon="refresh" onClick={() => location.reload()}>
            {t.reload}
          </Button>
        }
      >
        {t.brokenText}
      </EmptyState>
    </div>
  );
}
