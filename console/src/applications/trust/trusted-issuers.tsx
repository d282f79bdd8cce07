import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import type {
  ClaimRuleInput,
  TrustedIssuerFieldsFragment,
  TrustedIssuerKind,
} from '../../generated/graphql.ts';
import { useData } from '../../kit/api/use-data.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Button } from '../../kit/controls/button.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { Dialog } from '../../kit/dialogs/dialog.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../../kit/forms/choices.tsx';
import { filledText } from '../../kit/forms/described.ts';
import { DurationField } from '../../kit/forms/duration-field.tsx';
import { CheckField, TextField } from '../../kit/forms/fields.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { List, pageIn } from '../../kit/lists/list-page.tsx';
import { listMessages } from '../../kit/lists/messages.ts';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import { ApplicationField, type Choosable, useApplicationColumn } from './application-field.tsx';
import { ClaimRulesField } from './claim-rules.tsx';
import {
  CreateTrustedIssuer,
  DeleteTrustedIssuer,
  TrustedIssuer,
  TrustedIssuers as TrustedIssuerList,
  UpdateTrustedIssuer,
} from './documents.ts';
import { trustMessages } from './messages.ts';
import styles from './trust.module.css';

type Issuer = TrustedIssuerFieldsFragment;

const kinds = ['WORKLOAD', 'IDENTITY'] as const satisfies readonly TrustedIssuerKind[];

/** The issuers elsewhere whose tokens count here. */
export function TrustedIssuers({ of }: { of?: Choosable | undefined }) {
  const t = useMessages(trustMessages);
  const texts = useMessages(listMessages);
  const canWrite = useCan('applications:write');
  const [opened, setOpened] = useState<Issuer | 'new'>();
  const applications = useApplicationColumn<Issuer>();
  const close = () => setOpened(undefined);
  return (
    <Section
      title={t.issuers}
      about={t.issuersAbout}
      action={
        canWrite && (
          <Button size="small" icon="plus" onClick={() => setOpened('new')}>
            {t.createIssuer}
          </Button>
        )
      }
    >
      <List
        label={t.issuers}
        hasSearch={false}
        page="issuers"
        document={TrustedIssuerList}
        variables={(address) => ({ ...pageIn(address, 'issuers'), applicationId: of?.id })}
        connection={({ trustedIssuers }) => trustedIssuers}
        columns={[
          {
            id: 'name',
            header: t.name,
            wraps: true,
            cell: (issuer) => (
              <span className={styles.record}>
                <Button
                  size="small"
                  kind="quiet"
                  className={styles.open}
                  onClick={() => setOpened(issuer)}
                >
                  {issuer.name}
                </Button>
                <span className={styles.detail}>{issuer.issuer}</span>
              </span>
            ),
          },
          {
            id: 'kind',
            header: t.kind,
            isNarrow: true,
            from: 'wide',
            cell: ({ kind }) => <Badge>{t.kinds[kind]}</Badge>,
          },
          {
            id: 'rules',
            header: t.rulesShort,
            from: 'wide',
            wraps: true,
            cell: ({ claimRules }) => (
              <span className={styles.claims}>
                {claimRules.length === 0 && t.anything}
                {[...new Set(claimRules.map(({ claim, equals }) => `${claim} = ${equals}`))].map(
                  (rule) => (
                    <code key={rule}>{rule}</code>
                  ),
                )}
              </span>
            ),
          },
          ...(of ? [] : [applications]),
          {
            id: 'delete',
            header: '',
            isNarrow: true,
            cell: ({ id, name }) =>
              canWrite && (
                <ConfirmAction
                  label={texts.delete}
                  title={t.deleteIssuerTitle(name)}
                  text={t.deleteIssuerText}
                  document={DeleteTrustedIssuer}
                  input={{ id }}
                  onDone={() => toast.done(texts.wasDeleted(name))}
                  kind="danger"
                  size="small"
                />
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noIssuers}</p>}
      />
      <Dialog
        title={opened === undefined || opened === 'new' ? t.createIssuer : opened.name}
        isOpen={opened !== undefined}
        onClose={close}
        size="wide"
      >
        {opened === 'new' && <CreationForm of={of} onClose={close} />}
        {opened !== undefined && opened !== 'new' && (
          <ChangeForm issuer={opened} of={of} isReadOnly={!canWrite} onClose={close} />
        )}
      </Dialog>
    </Section>
  );
}

interface Values {
  readonly name: string;
  readonly kind: TrustedIssuerKind;
  readonly issuer: string;
  readonly jwksUri: string;
  readonly claimRules: ClaimRuleInput[];
  readonly applicationId: string;
  readonly maxLifetimeSeconds: number;
  readonly requireJti: boolean;
}

function useSchema() {
  const t = useMessages(trustMessages);
  const { required } = useMessages(formMessages);
  const given = filledText(required);
  return z.object({
    name: given,
    kind: z.enum(kinds),
    issuer: given,
    jwksUri: given,
    claimRules: z.array(
      z.object({ claim: given, equals: z.string().check(z.minLength(1, required)) }),
    ),
    applicationId: given,
    maxLifetimeSeconds: z
      .int(t.lifetimeBounds)
      .check(z.gte(1, t.lifetimeBounds), z.lte(3_600, t.lifetimeBounds)),
    requireJti: z.boolean(),
  });
}

/** What is sent: an issuer about people has no choice of the lifetime and the `jti`. */
const inputOf = ({ maxLifetimeSeconds, requireJti, ...values }: Values) => ({
  ...values,
  ...(values.kind === 'IDENTITY'
    ? { maxLifetimeSeconds: null, requireJti: null }
    : { maxLifetimeSeconds, requireJti }),
});

function CreationForm({ of, onClose }: { of: Choosable | undefined; onClose: () => void }) {
  const t = useMessages(trustMessages);
  const texts = useMessages(listMessages);
  return (
    <ActionForm
      document={CreateTrustedIssuer}
      schema={useSchema()}
      values={{
        name: '',
        kind: 'WORKLOAD' as TrustedIssuerKind,
        issuer: '',
        jwksUri: '',
        claimRules: [] as ClaimRuleInput[],
        applicationId: of?.id ?? '',
        maxLifetimeSeconds: 300,
        requireJti: true,
      }}
      toInput={inputOf}
      onDone={() => {
        toast.done(texts.created);
        onClose();
      }}
      submit={t.createIssuer}
      onCancel={onClose}
    >
      <Fields of={of} />
    </ActionForm>
  );
}

function ChangeForm({
  issuer: listed,
  of,
  isReadOnly,
  onClose,
}: {
  issuer: Issuer;
  of: Choosable | undefined;
  isReadOnly: boolean;
  onClose: () => void;
}) {
  const texts = useMessages(formMessages);
  const { data } = useData(TrustedIssuer, { id: listed.id });
  const issuer = data?.trustedIssuer ?? listed;
  const { id, application } = issuer;
  return (
    <ActionForm
      document={UpdateTrustedIssuer}
      record={issuer}
      isReadOnly={isReadOnly}
      schema={useSchema()}
      values={{
        name: issuer.name,
        kind: issuer.kind,
        issuer: issuer.issuer,
        jwksUri: issuer.jwksUri,
        claimRules: issuer.claimRules.map(({ claim, equals }) => ({ claim, equals })),
        applicationId: application.id,
        maxLifetimeSeconds: issuer.maxLifetimeSeconds,
        requireJti: issuer.requireJti,
      }}
      toInput={(values) => {
        const { jwksUri, ...input } = inputOf(values);
        // Whoever gives the address of the keys answers for what they open, if it is the same one too.
        return { id, ...input, ...(jwksUri === issuer.jwksUri ? {} : { jwksUri }) };
      }}
      onDone={() => {
        toast.done(texts.saved);
        onClose();
      }}
      submit={texts.save}
      {...(isReadOnly ? {} : { onCancel: onClose })}
    >
      <Fields of={of} known={application} />
    </ActionForm>
  );
}

function Fields({ of, known }: { of: Choosable | undefined; known?: Choosable }) {
  const t = useMessages(trustMessages);
  const kind = useWatch<Values, 'kind'>({ name: 'kind' });
  const isWorkload = kind === 'WORKLOAD';
  return (
    <>
      <RadioCards name="kind" label={t.kind} choices={choicesOf(kinds, t.kinds, t.kindTexts)} />
      <TextField name="name" label={t.name} />
      {!of && (
        <ApplicationField
          name="applicationId"
          label={t.application}
          hint={t.getsTokens[kind]}
          types={isWorkload ? ['MACHINE_TO_MACHINE'] : ['MACHINE_TO_MACHINE', 'TRADITIONAL']}
          known={known}
        />
      )}
      <TextField
        name="issuer"
        type="url"
        label={t.issuer}
        hint={t.issuerHint}
        placeholder="https://token.actions.githubusercontent.com"
        isCode
      />
      <TextField
        name="jwksUri"
        type="url"
        label={t.jwksUri}
        hint={t.jwksUriHint}
        placeholder="https://token.actions.githubusercontent.com/.well-known/jwks"
        isCode
      />
      <ClaimRulesField name="claimRules" label={t.rules} hint={t.rulesHint} />
      {isWorkload && (
        <>
          <DurationField name="maxLifetimeSeconds" label={t.lifetime} hint={t.lifetimeHint} />
          <CheckField name="requireJti" label={t.requireJti} hint={t.requireJtiHint} />
        </>
      )}
    </>
  );
}
