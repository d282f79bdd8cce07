import type { IdentityProviderFieldsFragment } from '../generated/graphql.ts';
import { useAction } from '../kit/api/use-action.ts';
import { Button } from '../kit/controls/button.tsx';
import { CopyId } from '../kit/controls/copy.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Properties, Property } from '../kit/records/section.tsx';
import { toast } from '../kit/toasts.ts';
import { UpdateIdentityProvider } from './identity-provider-documents.ts';
import { providerMessages } from './identity-provider-messages.ts';
import styles from './sign-in-experience.module.css';

/** The redirect URI to register at a provider, and what to do if it has another one. */
export function RedirectUri({
  provider: { id, redirectUri, redirectUriState },
  isReadOnly,
  onDone,
}: {
  provider: IdentityProviderFieldsFragment;
  isReadOnly: boolean;
  onDone: () => void;
}) {
  const t = useMessages(providerMessages);
  const { run, isRunning } = useAction(UpdateIdentityProvider);
  const confirm = async () => {
    const outcome = await run({ id, redirectUriRegistered: true });
    if (outcome.kind === 'refused') toast.failed(outcome.refusal.message);
    if (outcome.kind === 'done') {
      toast.done(t.moved);
      onDone();
    }
  };
  return (
    <div className={styles.redirectUri}>
      <Properties>
        <Property name={t.redirectUri}>
          <CopyId id={redirectUri} thing={t.redirectUri} />
        </Property>
      </Properties>
      {redirectUriState !== 'OWN' && (
        <Notice
          tone={redirectUriState === 'SHARED' ? 'warn' : 'bad'}
          title={t.register}
          action={
            redirectUriState === 'SHARED' &&
            !isReadOnly && (
              <Button size="small" isBusy={isRunning} onClick={confirm}>
                {t.isRegistered}
              </Button>
            )
          }
        >
          {t.redirectUriStates[redirectUriState]}
        </Notice>
      )}
    </div>
  );
}
