import { useMessages } from '../language/language.ts';
import { Page } from '../records/page.tsx';
import { shellMessages } from '../shell/messages.ts';

export function UsersPage() {
  const t = useMessages(shellMessages);
  return <Page heading={t.users}>{null}</Page>;
}
