import { useState } from 'react';
import * as z from 'zod/mini';
import type { InvitationStatus } from '../../generated/graphql.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Button } from '../../kit/controls/button.tsx';
import { CopyBlock, CopyButton } from '../../kit/controls/copy.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { Dialog, DialogFooter } from '../../kit/dialogs/dialog.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { CheckGroups } from '../../kit/forms/choices.tsx';
import { filledText } from '../../kit/forms/described.ts';
import { CheckField, TextField } from '../../kit/forms/fields.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { byCreation, rowActions } from '../../kit/lists/data-table.tsx';
import { List, orderIn, pageIn } from '../../kit/lists/list-page.tsx';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { EmptyState } from '../../kit/states/state.tsx';
import { useRoleChoices } from '../members/roles-in-place.tsx';
import { organizationMessages } from '../messages.ts';
import styles from '../organizations.module.css';
import {
  CreateOrganizationInvitation,
  DeleteOrganizationInvitation,
  Invitations,
  UpdateOrganizationInvitationStatus,
} from './documents.ts';

const tones = { PENDING: 'accent', ACCEPTED: 'good', EXPIRED: 'warn', REVOKED: 'bad' } as const;
const statuses: readonly InvitationStatus[] = ['PENDING', 'ACCEPTED', 'EXPIRED', 'REVOKED'];

/** The invitations to an organization. */
export function InvitationsTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const [isOpen, setIsOpen] = useState(false);
  const [created, setCreated] = useState<Created>();
  const close = () => {
    setIsOpen(false);
    setCreated(undefined);
  };
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
          { ...byCreation, header: t.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            id: 'actions',
            header: '',
            isNarrow: true,
            cell: (invitation) =>
              canWrite &&
              (invitation.status === 'PENDING' ? (
                <span key="pending" className={rowActions}>
                  <CopyButton text={invitation.url} thing={t.invitationLink} />
                  <ConfirmAction
                    label={t.revoke}
                    title={t.revokeTitle(invitation.invitee)}
                    text={t.revokeText}
                    document={UpdateOrganizationInvitationStatus}
                    input={{ id: invitation.id, status: 'REVOKED' }}
                    kind="danger"
                    size="small"
                  />
                </span>
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
        title={created ? t.invited(created.invitee) : t.inviteTitle}
        description={created ? undefined : t.inviteAbout}
        isOpen={isOpen}
        onClose={close}
      >
        {created ? (
          <InvitationLink invitation={created} onClose={close} />
        ) : (
          <InvitationForm id={id} onDone={setCreated} onClose={close} />
        )}
      </Dialog>
    </Section>
  );
}

interface Created {
  readonly invitee: string;
  readonly url: string;
  readonly expiresAt: string;
}

/** The link of a new invitation, and how long it can be used. */
function InvitationLink({ invitation, onClose }: { invitation: Created; onClose: () => void }) {
  const t = useMessages(organizationMessages);
  const format = useFormat();
  return (
    <>
      <CopyBlock label={t.invitationLink} text={invitation.url} />
      <p className={styles.linkLasts}>{t.linkLasts(format.until(invitation.expiresAt))}</p>
      <DialogFooter>
        <Button kind="primary" onClick={onClose}>
          {t.done}
        </Button>
      </DialogFooter>
    </>
  );
}

function InvitationForm({
  id,
  onDone,
  onClose,
}: {
  id: string;
  onDone: (created: Created) => void;
  onClose: () => void;
}) {
  const t = useMessages(organizationMessages);
  const texts = useMessages(formMessages);
  const roles = useRoleChoices('USER');
  return (
    <ActionForm
      document={CreateOrganizationInvitation}
      schema={z.object({
        invitee: filledText(texts.required),
        organizationRoleIds: z.array(z.string()),
        expiresAt: z.string(),
        sendMessage: z.boolean(),
      })}
      values={{
        invitee: '',
        organizationRoleIds: [] as string[],
        expiresAt: '',
        sendMessage: false,
      }}
      toInput={({ invitee, organizationRoleIds, expiresAt, sendMessage }) => ({
        organizationId: id,
        invitee: invitee.trim(),
        organizationRoleIds,
        sendMessage,
        ...(expiresAt ? { expiresAt: new Date(expiresAt).toISOString() } : {}),
      })}
      onDone={({ organizationInvitation: created }) => onDone(created)}
      submit={t.invite}
      onCancel={onClose}
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
      <CheckField name="sendMessage" label={t.sendMessage} hint={t.sendMessageHint} />
    </ActionForm>
  );
}
