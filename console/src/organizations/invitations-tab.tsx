import { useState } from 'react';
import * as z from 'zod/mini';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import { ConfirmAction } from '../dialogs/confirm-action.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { CheckGroups } from '../forms/choices.tsx';
import { TextField } from '../forms/fields.tsx';
import { formMessages } from '../forms/messages.ts';
import type { InvitationStatus } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { List, orderIn, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import {
  CreateOrganizationInvitation,
  DeleteOrganizationInvitation,
  Invitations,
  UpdateOrganizationInvitationStatus,
} from './documents.ts';
import { organizationMessages } from './messages.ts';
import styles from './organizations.module.css';
import { useRoleChoices } from './roles-in-place.tsx';

const tones = { PENDING: 'accent', ACCEPTED: 'good', EXPIRED: 'warn', REVOKED: 'bad' } as const;
const statuses: readonly InvitationStatus[] = ['PENDING', 'ACCEPTED', 'EXPIRED', 'REVOKED'];

/** Who was asked to join an organization. */
export function InvitationsTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const [isOpen, setIsOpen] = useState(false);
  const invite = canWrite && (
    <Button icon="plus" size="small" onClick={() => setIsOpen(true)}>
      {t.invite}
    </Button>
  );
  return (
    <Section title={t.tabs.invitations} about={t.invitationsAbout} action={invite}>
      <List
        label={t.tabs.invitations}
        document={Invitations}
        variables={(address) => ({
          ...pageIn(address),
          orderBy: orderIn<'CREATED_AT'>(address),
          filter: {
            organizationId: id,
            search: address['search'],
            status: statuses.find((status) => status === address['status']),
          },
        })}
        connection={({ organizationInvitations }) => organizationInvitations}
        columns={[
          { id: 'invitee', header: t.invitee, cell: ({ invitee }) => invitee },
          {
            id: 'roles',
            header: t.roles,
            from: 'medium',
            cell: ({ roles }) => (
              <span className={styles.chips}>
                {roles.edges.map(({ node }) => (
                  <Badge key={node.id}>{node.name}</Badge>
                ))}
              </span>
            ),
          },
          {
            id: 'status',
            header: t.status,
            isNarrow: true,
            cell: ({ status }) => <Badge tone={tones[status]}>{t.statuses[status]}</Badge>,
          },
          {
            id: 'expiresAt',
            header: t.expiresAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ expiresAt }) => <Time at={expiresAt} />,
          },
          {
            id: 'createdAt',
            header: t.createdAt,
            orderBy: 'CREATED_AT',
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'actions',
            header: '',
            isNarrow: true,
            cell: (invitation) =>
              canWrite &&
              (invitation.status === 'PENDING' ? (
                <ConfirmAction
                  key="revoke"
                  label={t.revoke}
                  title={t.revokeTitle(invitation.invitee)}
                  text={t.revokeText}
                  document={UpdateOrganizationInvitationStatus}
                  input={{ id: invitation.id, status: 'REVOKED' }}
                  kind="danger"
                  size="small"
                />
              ) : (
                <ConfirmAction
                  key="delete"
                  label={t.deleteInvitation}
                  title={t.deleteInvitationTitle(invitation.invitee)}
                  text={t.deleteInvitationText}
                  document={DeleteOrganizationInvitation}
                  input={{ id: invitation.id }}
                  kind="danger"
                  size="small"
                />
              )),
          },
        ]}
        filters={[
          {
            name: 'status',
            label: t.status,
            isSingle: true,
            options: statuses.map((value) => ({ value, label: t.statuses[value] })),
          },
        ]}
        empty={
          <EmptyState icon="users" title={t.noInvitationsTitle} action={invite}>
            {t.noInvitationsText}
          </EmptyState>
        }
      />
      <Dialog
        title={t.inviteTitle}
        description={t.inviteAbout}
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
      >
        <InvitationForm id={id} onClose={() => setIsOpen(false)} />
      </Dialog>
    </Section>
  );
}

function InvitationForm({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const roles = useRoleChoices('USER');
  return (
    <ActionForm
      document={CreateOrganizationInvitation}
      schema={z.object({
        invitee: z.string().check(z.trim(), z.minLength(1, texts.required)),
        organizationRoleIds: z.array(z.string()),
        expiresAt: z.string(),
      })}
      values={{ invitee: '', organizationRoleIds: [] as string[], expiresAt: '' }}
      toInput={({ invitee, organizationRoleIds, expiresAt }) => ({
        organizationId: id,
        invitee: invitee.trim(),
        organizationRoleIds,
        ...(expiresAt ? { expiresAt: new Date(expiresAt).toISOString() } : {}),
      })}
      onDone={({ organizationInvitation }) => {
        onClose();
        toast.done(t.invited(organizationInvitation.invitee));
      }}
      submit={t.invite}
      onCancel={onClose}
      cancel={t.cancel}
    >
      <TextField name="invitee" type="email" label={t.invitee} hasFocus />
      {roles.length > 0 && (
        <CheckGroups
          name="organizationRoleIds"
          label={t.roles}
          groups={[
            {
              label: t.templateRoles,
              choices: roles.map((role) => ({ value: role.id, label: role.name })),
            },
          ]}
        />
      )}
      <TextField
        name="expiresAt"
        type="datetime-local"
        label={t.expiresAt}
        hint={t.expiryHint}
        isOptional
      />
    </ActionForm>
  );
}
