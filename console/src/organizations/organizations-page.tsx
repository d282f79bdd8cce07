import { Link, useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { OrganizationOrderField } from '../generated/graphql.ts';
import { useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import { rowLink } from '../lists/data-table.tsx';
import { daysAgo } from '../lists/days.ts';
import { List, orderIn, pageIn } from '../lists/list-page.tsx';
import { useOpenInAddress } from '../lists/open-in-address.ts';
import { Page } from '../records/page.tsx';
import { PageTabs } from '../records/page-tabs.tsx';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { CreateOrganization, Organizations } from './documents.ts';
import { organizationMessages } from './messages.ts';
import { TemplateTab } from './template-tab.tsx';

/** All organizations, and the template that they share. */
export function OrganizationsPage() {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const creation = useOpenInAddress('create');
  const create = canWrite && (
    <Button kind="primary" icon="plus" onClick={creation.open}>
      {t.create}
    </Button>
  );
  return (
    <Page heading={t.heading} lead={t.lead} actions={create}>
      <PageTabs
        tabs={[
          {
            id: 'list',
            label: t.tabs.list,
            content: () => <OrganizationList create={create} />,
          },
          { id: 'template', label: t.tabs.template, content: () => <TemplateTab /> },
        ]}
      />
      {canWrite && <CreateOrganizationDialog isOpen={creation.isOpen} onClose={creation.close} />}
    </Page>
  );
}

function OrganizationList({ create }: { create: React.ReactNode }) {
  const t = useMessages(organizationMessages);
  const format = useFormat();
  return (
    <List
      label={t.heading}
      document={Organizations}
      variables={(address) => ({
        ...pageIn(address),
        orderBy: orderIn<OrganizationOrderField>(address),
        filter: { search: address['search'], createdAfter: daysAgo(address['created']) },
      })}
      connection={({ organizations }) => organizations}
      columns={[
        {
          id: 'name',
          header: t.name,
          orderBy: 'NAME',
          cell: ({ id, name }) => (
            <Link to="/organizations/$id" params={{ id }} className={rowLink}>
              {name}
            </Link>
          ),
        },
        {
          id: 'description',
          header: t.description,
          from: 'medium',
          cell: ({ description }) => description,
        },
        {
          id: 'updatedAt',
          header: t.updatedAt,
          orderBy: 'UPDATED_AT',
          isNarrow: true,
          from: 'wide',
          cell: ({ updatedAt }) => <Time at={updatedAt} />,
        },
        {
          id: 'createdAt',
          header: t.createdAt,
          orderBy: 'CREATED_AT',
          isNarrow: true,
          from: 'medium',
          cell: ({ createdAt }) => <Time at={createdAt} />,
        },
      ]}
      filters={[
        {
          name: 'created',
          label: t.createdAt,
          isSingle: true,
          options: [7, 30, 90].map((count) => ({
            value: String(count),
            label: t.createdWithin(format.number(count)),
          })),
        },
      ]}
      empty={
        <EmptyState icon="organizations" title={t.emptyTitle} action={create}>
          {t.emptyText}
        </EmptyState>
      }
    />
  );
}

function CreateOrganizationDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const navigate = useNavigate();
  return (
    <Dialog title={t.create} isOpen={isOpen} onClose={onClose}>
      <ActionForm
        document={CreateOrganization}
        schema={z.object({
          name: z.string().check(z.trim(), z.minLength(1, texts.required)),
          description: z.string(),
        })}
        values={{ name: '', description: '' }}
        toInput={({ name, description }) => ({
          name: name.trim(),
          ...(description.trim() ? { description: description.trim() } : {}),
        })}
        onDone={({ organization }) => {
          toast.done(t.created(organization.name));
          void navigate({ to: '/organizations/$id', params: { id: organization.id } });
        }}
        submit={t.create}
        onCancel={onClose}
        cancel={t.cancel}
      >
        <TextField name="name" label={t.name} hasFocus />
        <TextField name="description" label={t.description} isOptional />
      </ActionForm>
    </Dialog>
  );
}
