import { useState } from 'react';
import * as z from 'zod/mini';
import type { IdentityProviderFieldsFragment, IdentityProviderKind } from '../generated/graphql.ts';
import { useData } from '../kit/api/use-data.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { Button } from '../kit/controls/button.tsx';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../kit/forms/choices.tsx';
import { filledText } from '../kit/forms/described.ts';
import { CheckField, PasswordField, TextField } from '../kit/forms/fields.tsx';
import { filled, ListField } from '../kit/forms/list-field.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { List, pageIn } from '../kit/lists/list-page.tsx';
import { DeleteRecord } from '../kit/records/delete-record.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import {
  CreateIdentityProvider,
  DeleteIdentityProvider,
  IdentityProvider,
  IdentityProviders,
  UpdateIdentityProvider,
} from './identity-provider-documents.ts';
import { providerMessages } from './identity-provider-messages.ts';
import { RedirectUri } from './redirect-uri.tsx';
import styles from './sign-in-experience.module.css';

type Provider = IdentityProviderFieldsFragment;

const kinds = ['SOCIAL', 'ENTERPRISE'] as const satisfies readonly IdentityProviderKind[];

/** The identity providers that people can sign in with. */
export function Providers() {
  const t = useMessages(providerMessages);
  const canWrite = useCan('experience:write');
  const [isCreating, setIsCreating] = useState(false);
  const [opened, setOpened] = useState<Provider>();
  const close = () => setOpened(undefined);
  return (
    <Section
      title={t.title}
      about={t.about}
      action={
        canWrite && (
          <Button size="small" icon="plus" onClick={() => setIsCreating(true)}>
            {t.create}
          </Button>
        )
      }
    >
      <List
        label={t.title}
        hasSearch={false}
        document={IdentityProviders}
        variables={pageIn}
        connection={({ identityProviders }) => identityProviders}
        columns={[
          {
            id: 'name',
            header: t.name,
            cell: (provider) => (
              <Button
                size="small"
                kind="quiet"
                className={styles.open}
                onClick={() => setOpened(provider)}
              >
                {provider.name}
              </Button>
            ),
          },
          { id: 'kind', header: t.kind, isNarrow: true, cell: ({ kind }) => t.kinds[kind] },
          {
            id: 'enabled',
            header: t.state,
            isNarrow: true,
            cell: ({ enabled, redirectUriState }) => (
              <>
                <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? t.on : t.off}</Badge>{' '}
                {redirectUriState !== 'OWN' && (
                  <Badge tone={redirectUriState === 'SHARED' ? 'warn' : 'bad'}>
                    {t.toRegister}
                  </Badge>
                )}
              </>
            ),
          },
        ]}
        empty={<p className={styles.about}>{t.empty}</p>}
      />
      <Dialog title={t.create} isOpen={isCreating} onClose={() => setIsCreating(false)} size="wide">
        <CreationForm
          onClose={() => setIsCreating(false)}
          onDone={(provider) => {
            setIsCreating(false);
            setOpened(provider);
          }}
        />
      </Dialog>
      <Dialog
        title={opened?.name ?? t.title}
        isOpen={opened !== undefined}
        onClose={close}
        size="wide"
      >
        {opened && <Opened provider={opened} isReadOnly={!canWrite} onClose={close} />}
      </Dialog>
    </Section>
  );
}

function useSchema() {
  const texts = useMessages(formMessages);
  const needed = filledText(texts.required);
  return z.object({
    kind: z.enum(kinds),
    name: needed,
    issuer: needed,
    clientId: needed,
    clientSecret: z.string(),
    scopes: z.array(z.string()),
    emailDomains: z.array(z.string()),
    enabled: z.boolean(),
  });
}

interface Values {
  readonly kind: IdentityProviderKind;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: string[];
  readonly emailDomains: string[];
  readonly enabled: boolean;
}

const inputOf = ({ clientSecret, ...values }: Values) => ({
  ...values,
  name: values.name.trim(),
  issuer: values.issuer.trim(),
  clientId: values.clientId.trim(),
  // The secret cannot be read, so it stays unless a new one is typed.
  ...(clientSecret ? { clientSecret } : {}),
  scopes: filled(values.scopes),
  emailDomains: filled(values.emailDomains),
});

function CreationForm({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (provider: Provider) => void;
}) {
  const t = useMessages(providerMessages);
  return (
    <ActionForm
      document={CreateIdentityProvider}
      schema={useSchema()}
      values={{
        kind: 'SOCIAL' as IdentityProviderKind,
        name: '',
        issuer: '',
        clientId: '',
        clientSecret: '',
        scopes: ['openid', 'profile', 'email'],
        emailDomains: [] as string[],
        enabled: true,
      }}
      toInput={inputOf}
      onDone={({ identityProvider }) => {
        toast.done(t.created(identityProvider.name));
        onDone(identityProvider);
      }}
      submit={t.create}
      onCancel={onClose}
    >
      <Fields />
    </ActionForm>
  );
}

function Opened({
  provider: listed,
  isReadOnly,
  onClose,
}: {
  provider: Provider;
  isReadOnly: boolean;
  onClose: () => void;
}) {
  const t = useMessages(providerMessages);
  const texts = useMessages(formMessages);
  const { data } = useData(IdentityProvider, { id: listed.id });
  const provider = data?.identityProvider ?? listed;
  const { id, name, hasClientSecret } = provider;
  return (
    <>
      <RedirectUri provider={provider} isReadOnly={isReadOnly} onDone={onClose} />
      <ActionForm
        document={UpdateIdentityProvider}
        record={provider}
        isReadOnly={isReadOnly}
        schema={useSchema()}
        values={{
          kind: provider.kind,
          name,
          issuer: provider.issuer,
          clientId: provider.clientId,
          clientSecret: '',
          scopes: provider.scopes,
          emailDomains: provider.emailDomains,
          enabled: provider.enabled,
        }}
        toInput={(values) => ({ id, ...inputOf(values) })}
        onDone={() => {
          toast.done(texts.saved);
          onClose();
        }}
        submit={texts.save}
        onCancel={onClose}
      >
        <Fields secretHint={hasClientSecret ? t.secretKept : undefined} />
      </ActionForm>
      {!isReadOnly && (
        <DeleteRecord
          name={name}
          alsoDeleted={[t.deletesIdentities]}
          document={DeleteIdentityProvider}
          input={{ id }}
          onDone={() => {
            toast.done(t.deleted(name));
            onClose();
          }}
        />
      )}
    </>
  );
}

function Fields({ secretHint }: { secretHint?: string | undefined }) {
  const t = useMessages(providerMessages);
  return (
    <>
      <RadioCards name="kind" label={t.kind} choices={choicesOf(kinds, t.kinds, t.kindTexts)} />
      <TextField name="name" label={t.name} hint={t.nameHint} />
      <TextField
        name="issuer"
        type="url"
        label={t.issuer}
        hint={t.issuerHint}
        placeholder="https://accounts.example.com"
        isCode
      />
      <TextField name="clientId" label={t.clientId} isCode />
      <PasswordField
        name="clientSecret"
        label={t.clientSecret}
        hint={secretHint}
        autoComplete="off"
        isOptional
      />
      <ListField name="scopes" label={t.scopes} placeholder="openid" />
      <ListField
        name="emailDomains"
        label={t.domains}
        hint={t.domainsHint}
        placeholder="example.com"
      />
      <CheckField name="enabled" label={t.enabled} />
    </>
  );
}
