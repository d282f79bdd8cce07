import { Button, IconButton } from '../kit/controls/button.tsx';
import { useMessages } from '../kit/language/language.ts';
import { servicePath } from '../kit/service-url.ts';
import { shellMessages } from './messages.ts';

/** Ends the session, and the provider's too. It is a form, so that the browser follows the redirects. */
export function SignOut({ isSmall = false }: { isSmall?: boolean }) {
  const t = useMessages(shellMessages);
  return (
    <form method="post" action={`${servicePath}/console/sign-out`}>
      {isSmall ? (
        <IconButton type="submit" icon="signOut" label={t.signOut} />
      ) : (
        <Button type="submit" icon="signOut">
          {t.signOut}
        </Button>
      )}
    </form>
  );
}
