import { useState } from 'react';
import * as z from 'zod/mini';
import { send } from '../api/send.ts';
import { useAllPages } from '../api/use-all-pages.ts';
import { Badge } from '../controls/badge.tsx';
import { Time } from '../controls/time.tsx';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckGroups } from '../forms/choices.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import { useMessages } from '../language/language.ts';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import {
  AddOrganizationEmailDomain,
  AddOrganizationIdentityProvider,
  EmailDomains,
  JustInTimeRoles,
  OrganizationIdentityProviders,
  RemoveOrganizationEmailDomain,
  RemoveOrganizationIdentityProvider,
  ReplaceOrganizationJitRoles,
  SearchIdentityProviders,
} from './documents.ts';
import { organizationMessages } from './messages.ts';
import styles from './organizations.module.css';
import { useRoleChoices } from './roles-in-place.tsx';

/** Whose e-mail address makes them a member, and with which roles. */
export function JustInTimeTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const seesProviders = useCan('experience:read');
  return (
    <>
      <Section title={t.domains} about={t.domainsAbout}>
        <Domains id={id} canWrite={canWrite} />
      </Section>
      {seesProviders && (
        <Section title={t.providers} about={t.providersAbout}>
          <Providers id={id} canWrite={canWrite} />
        </Section>
      )}
      <Section title={t.jitRoles} about={t.jitRolesAbout}>
        <JitRoles id={id} canWrite={canWrite} />
      </Section>
    </>
  );
}

function Domains({ id, canWrite }: { id: string; canWrite: boolean }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const [added, setAdded] = useState(0);
  return (
    <div className={styles.set}>
      <List
        label={t.domains}
        hasSearch={false}
        document={EmailDomains}
        page="domains"
        variables={(address) => ({ id, ...pageIn(address, 'domains') })}
        connection={({ organization }) =>
          organization && {
            pageInfo: organization.emailDomains.pageInfo,
            edges: organization.emailDomains.edges.map(({ node }) => ({
              node: { ...node, id: node.domain },
            })),
          }
        }
        columns={[
          { id: 'domain', header: t.domain, cell: ({ domain }) => <code>{domain}</code> },
          {
            id: 'createdAt',
            header: t.addedAt,
            isNarrow: true,
            from: 'medium',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: ({ domain }) =>
              canWrite && (
                <RemoveAction
                  label={t.remove(domain)}
                  document={RemoveOrganizationEmailDomain}
                  input={{ organizationId: id, domain }}
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noDomains}</p>}
      />
      {canWrite && (
        <ActionForm
          // Empty again for the next one.
          key={added}
          document={AddOrganizationEmailDomain}
          schema={z.object({ domain: z.string().check(z.trim(), z.minLength(1, texts.required)) })}
          values={{ domain: '' }}
          toInput={({ domain }) => ({ organizationId: id, domain: domain.trim() })}
          onDone={() => setAdded(added + 1)}
          submit={t.addDomain}
        >
          <TextField name="domain" label={t.domain} placeholder="example.com" isCode />
        </ActionForm>
      )}
    </div>
  );
}

function Providers({ id, canWrite }: { id: string; canWrite: boolean }) {
  const t = useMessages(organizationMessages);
  return (
    <>
      {canWrite && (
        <PickAction
          label={t.addProvider}
          placeholder={t.searchProviders}
          search={async (search, signal) => {
            const found = await send(SearchIdentityProviders, { search }, signal);
            return found.identityProviders.edges.map(({ node }) => ({
              key: node.id,
              text: node.name,
              detail: node.issuer,
            }));
          }}
          document={AddOrganizationIdentityProvider}
          input={(key) => ({ organizationId: id, identityProviderId: key })}
        />
      )}
      <List
        label={t.providers}
        hasSearch={false}
        page="providers"
        document={OrganizationIdentityProviders}
        variables={(address) => ({ id, ...pageIn(address, 'providers') })}
        connection={({ organization }) => organization?.identityProviders}
        columns={[
          {
            id: 'provider',
            header: t.provider,
            cell: ({ name, enabled }) => (
              <span className={styles.chips}>
                {name}
                {!enabled && <Badge>{t.providerOff}</Badge>}
              </span>
            ),
          },
          {
            id: 'issuer',
            header: t.issuer,
            from: 'medium',
            cell: ({ issuer }) => <code>{issuer}</code>,
          },
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: (provider) =>
              canWrite && (
                <RemoveAction
                  label={t.remove(provider.name)}
                  document={RemoveOrganizationIdentityProvider}
                  input={{ organizationId: id, identityProviderId: provider.id }}
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noProviders}</p>}
      />
    </>
  );
}

function JitRoles({ id, canWrite }: { id: string; canWrite: boolean }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const {
    nodes: roles,
    error,
    askAgain,
  } = useAllPages(JustInTimeRoles, { id }, ({ organization }) => organization?.jitRoles);
  const choices = useRoleChoices('USER');
  if (error && !roles) return <Failed error={error} onRetry={askAgain} />;
  if (!roles) return <Loading lines={3} />;
  const offered = [
    ...choices,
    ...roles.filter((role) => !choices.some((one) => one.id === role.id)),
  ];
  if (offered.length === 0) return <p className={styles.about}>{t.noTemplateRoles}</p>;
  return (
    <ActionForm
      document={ReplaceOrganizationJitRoles}
      isReadOnly={!canWrite}
      schema={z.object({ organizationRoleIds: z.array(z.string()) })}
      values={{ organizationRoleIds: roles.map((role) => role.id) }}
      toInput={({ organizationRoleIds }) => ({ organizationId: id, organizationRoleIds })}
      onDone={() => toast.done(texts.saved)}
      submit={texts.save}
    >
      <CheckGroups
        name="organizationRoleIds"
        label={t.jitRoles}
        groups={[
          {
            label: t.templateRoles,
            choices: offered.map((role) => ({ value: role.id, label: role.name })),
          },
        ]}
      />
    </ActionForm>
  );
}
