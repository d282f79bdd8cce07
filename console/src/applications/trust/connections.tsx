import { useState } from 'react';
import * as z from 'zod/mini';
import type { CrossAppConnectionFieldsFragment } from '../../generated/graphql.ts';
import { useData } from '../../kit/api/use-data.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Button } from '../../kit/controls/button.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { Dialog } from '../../kit/dialogs/dialog.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { filledText } from '../../kit/forms/described.ts';
import { TextField } from '../../kit/forms/fields.tsx';
import { filled, ListField } from '../../kit/forms/list-field.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { listMessages } from '../../kit/lists/messages.ts';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import { ApplicationField, type Choosable, useApplicationColumn } from './application-field.tsx';
import {
  CreateCrossAppConnection,
  CrossAppConnection,
  CrossAppConnections,
  DeleteCrossAppConnection,
  UpdateCrossAppConnection,
} from './documents.ts';
import { trustMessages } from './messages.ts';
import styles from './trust.module.css';

type Connection = CrossAppConnectionFieldsFragment;

/** The services elsewhere to which applications may take the identities of their people. */
export function Connections({ of }: { of?: Choosable | undefined }) {
  const t = useMessages(trustMessages);
  const texts = useMessages(listMessages);
  const canWrite = useCan('applications:write');
  const [opened, setOpened] = useState<Connection | 'new'>();
  const applications = useApplicationColumn<Connection>();
  const close = () => setOpened(undefined);
  return (
    <Section
      title={t.connections}
      about={t.connectionsAbout}
      action={
        canWrite && (
          <Button size="small" icon="plus" onClick={() => setOpened('new')}>
            {t.createConnection}
          </Button>
        )
      }
    >
      <List
        label={t.connections}
        hasSearch={false}
        page="connections"
        document={CrossAppConnections}
        variables={(address) => ({ ...pageIn(address, 'connections'), applicationId: of?.id })}
        connection={({ crossAppConnections }) => crossAppConnections}
        columns={[
          {
            id: 'issuer',
            header: t.elsewhere,
            wraps: true,
            cell: (connection) => (
              <span className={styles.record}>
                <Button
                  size="small"
                  kind="quiet"
                  className={styles.open}
                  onClick={() => setOpened(connection)}
                >
                  {connection.issuer}
                </Button>
                <span className={styles.detail}>{t.as(connection.clientId)}</span>
              </span>
            ),
          },
          {
            id: 'scopes',
            header: t.scopes,
            from: 'wide',
            wraps: true,
            cell: ({ scopes }) => (
              <span className={styles.chips}>
                {scopes.map((scope) => (
                  <Badge key={scope}>{scope}</Badge>
                ))}
              </span>
            ),
          },
          ...(of ? [] : [applications]),
          {
            id: 'delete',
            header: '',
            isNarrow: true,
            cell: ({ id, issuer }) =>
              canWrite && (
                <ConfirmAction
                  label={texts.delete}
                  title={t.deleteConnectionTitle(issuer)}
                  text={t.deleteConnectionText}
                  document={DeleteCrossAppConnection}
                  input={{ id }}
                  onDone={() => toast.done(texts.wasDeleted(issuer))}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noConnections}</p>}
      />
      <Dialog
        title={opened === undefined || opened === 'new' ? t.createConnection : opened.issuer}
        isOpen={opened !== undefined}
        onClose={close}
      >
        {opened === 'new' && <CreationForm of={of} onClose={close} />}
        {opened !== undefined && opened !== 'new' && (
          <ChangeForm connection={opened} isReadOnly={!canWrite} onClose={close} />
        )}
      </Dialog>
    </Section>
  );
}

function useSchema() {
  const { required } = useMessages(formMessages);
  const given = filledText(required);
  return z.object({ issuer: given, clientId: given, scopes: z.array(z.string()) });
}

function CreationForm({ of, onClose }: { of: Choosable | undefined; onClose: () => void }) {
  const t = useMessages(trustMessages);
  const texts = useMessages(listMessages);
  const { required } = useMessages(formMessages);
  return (
    <ActionForm
      document={CreateCrossAppConnection}
      schema={z.extend(useSchema(), { applicationId: filledText(required) })}
      values={{
        applicationId: of?.id ?? '',
        issuer: '',
        clientId: '',
        scopes: [] as string[],
      }}
      toInput={({ scopes, ...values }) => ({ ...values, scopes: filled(scopes) })}
      onDone={() => {
        toast.done(texts.created);
        onClose();
      }}
      submit={t.createConnection}
      onCancel={onClose}
    >
      {!of && (
        <ApplicationField
          name="applicationId"
          label={t.application}
          hint={t.mayGo}
          types={['TRADITIONAL', 'MACHINE_TO_MACHINE']}
        />
      )}
      <Fields />
    </ActionForm>
  );
}

function ChangeForm({
  connection: listed,
  isReadOnly,
  onClose,
}: {
  connection: Connection;
  isReadOnly: boolean;
  onClose: () => void;
}) {
  const texts = useMessages(formMessages);
  const { data } = useData(CrossAppConnection, { id: listed.id });
  const connection = data?.crossAppConnection ?? listed;
  const { id, issuer, clientId, scopes } = connection;
  return (
    <ActionForm
      document={UpdateCrossAppConnection}
      record={connection}
      isReadOnly={isReadOnly}
      schema={useSchema()}
      values={{ issuer, clientId, scopes }}
      toInput={(values) => ({ id, ...values, scopes: filled(values.scopes) })}
      onDone={() => {
        toast.done(texts.saved);
        onClose();
      }}
      submit={texts.save}
      {...(isReadOnly ? {} : { onCancel: onClose })}
    >
      <Fields />
    </ActionForm>
  );
}

function Fields() {
  const t = useMessages(trustMessages);
  return (
    <>
      <TextField
        name="issuer"
        type="url"
        label={t.elsewhereIssuer}
        hint={t.elsewhereIssuerHint}
        placeholder="https://id.chat.example.com"
        isCode
      />
      <TextField name="clientId" label={t.clientId} hint={t.clientIdHint} isCode />
      <ListField name="scopes" label={t.scopes} hint={t.scopesHint} placeholder="messages.read" />
    </>
  );
}
