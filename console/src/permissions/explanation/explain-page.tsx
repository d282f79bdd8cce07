import { useMessages } from '../../kit/language/language.ts';
import { Page } from '../../kit/records/page.tsx';
import { EmptyState } from '../../kit/states/state.tsx';
import { useMayAsk } from '../may-ask.ts';
import { ExplainExchange } from './explain-exchange.tsx';
import { explanationMessages } from './messages.ts';

/** Why a token exchange is granted or refused, with what it is about in the address. */
export function ExplainPage() {
  const t = useMessages(explanationMessages);
  const mayAsk = useMayAsk();
  return (
    <Page heading={t.heading} lead={t.about}>
      {mayAsk ? (
        <ExplainExchange />
      ) : (
        <EmptyState icon="roles" title={t.notAllowedTitle}>
          {t.notAllowedText}
        </EmptyState>
      )}
    </Page>
  );
}
