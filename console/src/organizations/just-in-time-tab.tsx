import { useState } from 'react';
import * as z from 'zod/mini';
import { useData } from '../api/use-data.ts';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckGroups } from '../forms/choices.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import { useMessages } from '../language/language.ts';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import {
  AddOrganizationEmailDomain,
  JustInTime,
  RemoveOrganizationEmailDomain,
  ReplaceOrganizationJitRoles,
} from './documents.ts';
import { organizationMessages } from './messages.ts';
import styles from './organizations.module.css';
import { useRoleChoices } from './roles-in-place.tsx';

/** Whose e-mail address makes them a member, and with which roles. */
export function JustInTimeTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const { data, error, askAgain } = useData(JustInTime, { id });
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return <Loading lines={3} />;
  const domains = data.organization?.emailDomains.edges.map(({ node }) => node.domain) ?? [];
  const roles = data.organization?.jitRoles.edges.map(({ node }) => node) ?? [];
  return (
    <>
      <Section title={t.domains} about={t.domainsAbout}>
        <Domains id={id} domains={domains} canWrite={canWrite} />
      </Section>
      <Section title={t.jitRoles} about={t.jitRolesAbout}>
        <JitRoles id={id} roles={roles} canWrite={canWrite} />
      </Section>
    </>
  );
}

function Domains({
  id,
  domains,
  canWrite,
}: {
  id: string;
  domains: readonly string[];
  canWrite: boolean;
}) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const [added, setAdded] = useState(0);
  return (
    <div className={styles.set}>
      {domains.length === 0 && <p className={styles.about}>{t.noDomains}</p>}
      <ul className={styles.chips}>
        {domains.map((domain) => (
          <li key={domain} className={styles.chip}>
            {domain}
            {canWrite && (
              <RemoveAction
                label={t.remove(domain)}
                document={RemoveOrganizationEmailDomain}
                input={{ organizationId: id, domain }}
              />
            )}
          </li>
        ))}
      </ul>
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

function JitRoles({
  id,
  roles,
  canWrite,
}: {
  id: string;
  roles: readonly { readonly id: string; readonly name: string }[];
  canWrite: boolean;
}) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const choices = useRoleChoices('USER');
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
