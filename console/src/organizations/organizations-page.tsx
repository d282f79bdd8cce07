import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import * as z from 'zod/mini';
import type { OrganizationOrderField } from '../generated/graphql.ts';
import { Time } from '../kit/controls/time.tsx';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { ActionForm } from '../kit/forms/action-form.tsx';
import { filledText, newDescribed } from '../kit/forms/described.ts';
import { TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { useCreation } from '../kit/lists/creation.tsx';
import { byCreation } from '../kit/lists/data-table.tsx';
import { daysAgo } from '../kit/lists/days.ts';
import { List, orderIn, pageIn } from '../kit/lists/list-page.tsx';
import { NamedRowLink } from '../kit/lists/row-link.tsx';
import { Page } from '../kit/records/page.tsx';
import { PageTabs } from '../kit/records/page-tabs.tsx';
import { useCan } from '../kit/session/session.ts';
import { toast } from '../kit/toasts.ts';
import { CreateOrganization, Organizations } from './documents.ts';
import { organizationMessages } from './messages.ts';
import { TemplateTab } from './template/template-tab.tsx';

/** All organizations, and the template that they share. */
export function OrganizationsPage() {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const creation = useCreation({
    icon: 'organizations',
    texts: t,
    isAllowed: canWrite,
    Dialog: CreateOrganizationDialog,
  });
  return (
    <Page heading={t.heading} lead={t.lead} actions={creation.action}>
      <PageTabs
        tabs={[
          {
            id: 'list',
            label: t.tabs.list,
            content: () => <OrganizationList empty={creation.empty} />,
          },
          { id: 'template', label: t.tabs.template, content: () => <TemplateTab /> },
        ]}
      />
      {creation.dialog}
    </Page>
  );
}

function OrganizationList({ empty }: { empty: ReactNode }) {
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
          cell: (row) => <NamedRowLink to="/organizations/$id" of={row} />,
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
          ...byCreation,
          header: t.createdAt,
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
      empty={empty}
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
          name: filledText(texts.required),
          description: z.string(),
        })}
        values={{ name: '', description: '' }}
        toInput={newDescribed}
        onDone={({ organization }) => {
          toast.done(t.created(organization.name));
          void navigate({ to: '/organizations/$id', params: { id: organization.id } });
        }}
        submit={t.create}
        onCancel={onClose}
      >
        <TextField name="name" label={t.name} hasFocus />
        <TextField name="description" label={t.description} isOptional />
      </ActionForm>
    </Dialog>
  );
}
