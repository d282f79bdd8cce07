import { useMessages } from '../language/language.ts';
import { Page } from '../records/page.tsx';
import { shellMessages } from '../shell/messages.ts';

export function WebhookPage() {
  const t = useMessages(shellMessages);
  return <Page heading={t.webhooks}>{null}</Page>;
}
