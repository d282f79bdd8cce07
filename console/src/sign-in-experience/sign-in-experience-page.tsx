import { useMessages } from '../language/language.ts';
import { Page } from '../records/page.tsx';
import { shellMessages } from '../shell/messages.ts';

export function SignInExperiencePage() {
  const t = useMessages(shellMessages);
  return <Page heading={t.signInExperience}>{null}</Page>;
}
