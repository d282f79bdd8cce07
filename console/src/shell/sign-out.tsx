import { Button, IconButton } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import { servicePath } from '../service-url.ts';
import { shellMessages } from './messages.ts';

/** Ends the session, and the provider's with it: a form, so that the browser follows the redirects. */
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
