import { useState } from 'react';
import * as z from 'zod/mini';
import { send } from '../../kit/api/send.ts';
import { useAllPages } from '../../kit/api/use-all-pages.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { PickAction } from '../../kit/dialogs/pick-action.tsx';
import { RemoveAction } from '../../kit/dialogs/remove-action.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { CheckGroups } from '../../kit/forms/choices.tsx';
import { filledText } from '../../kit/forms/described.ts';
import { TextField } from '../../kit/forms/fields.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { Failed } from '../../kit/states/failed.tsx';
import { Loading } from '../../kit/states/loading.tsx';
import { toast } from '../../kit/toasts.ts';
import { useRoleChoices } from '../members/roles-in-place.tsx';
import { organizationMessages } from '../messages.ts';
import styles from '../organizations.module.css';
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

/** The e-mail domains and identity providers whose people join by themselves, and their roles. */
export function JustInTimeTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const canReadProviders = useCan('experience:read');
  return (
    <>
      <Section title={t.domains} about={t.domainsAbout}>
        <Domains id={id} canWrite={canWrite} />
      </Section>
      {canReadProviders && (
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
          // Clears the field for the next one.
          key={added}
          document={AddOrganizationEmailDomain}
          schema={z.object({ domain: filledText(texts.required) })}
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
    data,
    error,
    refetch,
  } = useAllPages(JustInTimeRoles, { id }, ({ organization }) => organization?.jitRoles);
  const choices = useRoleChoices('USER');
  if (error && !roles) return <Failed error={error} onRetry={refetch} />;
  if (!roles || !data?.organization) return <Loading lines={3} />;
  const offered = [
    ...choices,
    ...roles.filter((role) => !choices.some((one) => one.id === role.id)),
  ];
  if (offered.length === 0) return <p className={styles.about}>{t.noTemplateRoles}</p>;
  return (
    <ActionForm
      document={ReplaceOrganizationJitRoles}
      record={data.organization}
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
