import { useState } from 'react';
import * as z from 'zod/mini';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { CopyId } from '../controls/copy.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { RadioCards } from '../forms/choices.tsx';
import { CheckField, PasswordField, TextField } from '../forms/fields.tsx';
import { filled, ListField } from '../forms/list-field.tsx';
import { formMessages } from '../forms/messages.ts';
import type { IdentityProviderFieldsFragment, IdentityProviderKind } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { List, pageIn } from '../lists/list-page.tsx';
import { DeleteRecord } from '../records/delete-record.tsx';
import { Properties, Property, Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import {
  CreateIdentityProvider,
  DeleteIdentityProvider,
  IdentityProviders,
  UpdateIdentityProvider,
} from './identity-provider-documents.ts';
import { providerMessages } from './identity-provider-messages.ts';
import styles from './sign-in-experience.module.css';

type Provider = IdentityProviderFieldsFragment;

const kinds = ['SOCIAL', 'ENTERPRISE'] as const satisfies readonly IdentityProviderKind[];

/** Where people sign in with an account of theirs elsewhere. */
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
            cell: ({ enabled }) => (
              <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? t.on : t.off}</Badge>
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
  const needed = z.string().check(z.trim(), z.minLength(1, texts.required));
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
  // Nobody can read it, so it stays unless another is typed.
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
      cancel={t.cancel}
    >
      <Fields />
    </ActionForm>
  );
}

function Opened({
  provider,
  isReadOnly,
  onClose,
}: {
  provider: Provider;
  isReadOnly: boolean;
  onClose: () => void;
}) {
  const t = useMessages(providerMessages);
  const texts = useMessages(formMessages);
  const { id, name, redirectUri, hasClientSecret } = provider;
  return (
    <>
      <Properties>
        <Property name={t.redirectUri}>
          <CopyId id={redirectUri} thing={t.redirectUri} />
        </Property>
      </Properties>
      <ActionForm
        document={UpdateIdentityProvider}
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
        cancel={t.cancel}
      >
        <Fields secretHint={hasClientSecret ? t.secretKept : undefined} />
      </ActionForm>
      {!isReadOnly && (
        <DeleteRecord
          name={name}
          goesToo={[t.goesIdentities]}
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
      <RadioCards
        name="kind"
        label={t.kind}
        choices={kinds.map((value) => ({
          value,
          label: t.kinds[value],
          description: t.kindTexts[value],
        }))}
      />
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
