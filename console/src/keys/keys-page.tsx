import { useState } from 'react';
import type { SigningKeysQuery } from '../generated/graphql.ts';
import { useData } from '../kit/api/use-data.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { Button, IconButton } from '../kit/controls/button.tsx';
import { CopyBlock, CopyId } from '../kit/controls/copy.tsx';
import { Time } from '../kit/controls/time.tsx';
import { ConfirmAction } from '../kit/dialogs/confirm-action.tsx';
import { Dialog, DialogFooter } from '../kit/dialogs/dialog.tsx';
import { useMessages } from '../kit/language/language.ts';
import { DataTable } from '../kit/lists/data-table.tsx';
import { useOpenInAddress } from '../kit/lists/open-in-address.ts';
import { Page } from '../kit/records/page.tsx';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { serviceUrl } from '../kit/service-url.ts';
import { useCan } from '../kit/session/session.ts';
import { Failed, Forbidden } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { toast } from '../kit/toasts.ts';
import { DeleteSigningKey, SigningKeys } from './documents.ts';
import styles from './keys.module.css';
import { keyMessages } from './messages.ts';
import { RotateDialog } from './rotate.tsx';
import { Schedule } from './schedule.tsx';

type Key = SigningKeysQuery['signingKeys']['edges'][number]['node'];

/** The keys that sign tokens, and their rotation. It takes the scope `all`. */
export function KeysPage() {
  const t = useMessages(keyMessages);
  const isAllowed = useCan('all');
  const rotation = useOpenInAddress('rotate');
  return (
    <Page
      heading={t.heading}
      lead={t.lead}
      actions={
        isAllowed && (
          <Button kind="primary" icon="refresh" onClick={rotation.open}>
            {t.rotate}
          </Button>
        )
      }
    >
      {isAllowed ? <Keys /> : <Forbidden scope="all" />}
      {isAllowed && <Schedule />}
      {isAllowed && <RotateDialog isOpen={rotation.isOpen} onClose={rotation.close} />}
    </Page>
  );
}

function Keys() {
  const t = useMessages(keyMessages);
  const { data, error, refetch } = useData(SigningKeys, {});
  const [shown, setShown] = useState<Key>();
  if (error && !data) return <Failed error={error} onRetry={refetch} />;
  if (!data) return <Loading lines={3} />;
  return (
    <Section title={t.keys} about={t.keysAbout}>
      <Properties>
        <Property name={t.keySet}>
          <CopyId id={`${serviceUrl}/oidc/jwks`} thing={t.keySet} />
        </Property>
      </Properties>
      <DataTable
        label={t.keys}
        rows={data.signingKeys.edges.map(({ node }) => node)}
        columns={[
          {
            id: 'id',
            header: t.id,
            cell: (key) => (
              <span className={styles.key}>
                <CopyId id={key.id} thing={t.id} />
                <State of={key} />
              </span>
            ),
          },
          {
            id: 'algorithm',
            header: t.algorithm,
            isNarrow: true,
            from: 'medium',
            cell: ({ algorithm }) => <span title={t.algorithms[algorithm]}>{algorithm}</span>,
          },
          {
            id: 'createdAt',
            header: t.createdAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'leavesAt',
            header: t.leavesAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : <None />),
          },
          {
            id: 'actions',
            header: '',
            isNarrow: true,
            cell: (key) => (
              <span className={styles.actions}>
                <IconButton
                  icon="eye"
                  size="small"
                  label={t.showPublicKey(key.id)}
                  onClick={() => setShown(key)}
                />
                {(key.retiredAt || key.status === 'PENDING') && (
                  <ConfirmAction
                    label={t.delete}
                    title={t.deleteTitles[key.status]}
                    text={t.deleteTexts[key.status]}
                    document={DeleteSigningKey}
                    input={{ id: key.id }}
                    onDone={() => toast.done(t.deleted)}
                    kind="danger"
                    size="small"
                  />
                )}
              </span>
            ),
          },
        ]}
      />
      <Dialog
        title={t.publicKey}
        isOpen={shown !== undefined}
        onClose={() => setShown(undefined)}
        size="wide"
      >
        {shown && <CopyBlock label={t.publicJwk} text={JSON.stringify(shown.publicJwk, null, 2)} />}
        <DialogFooter>
          <Button onClick={() => setShown(undefined)}>{t.close}</Button>
        </DialogFooter>
      </Dialog>
    </Section>
  );
}

function State({ of: { isCurrent, status, activeFrom } }: { of: Key }) {
  const t = useMessages(keyMessages);
  if (status === 'PENDING')
    return (
      <>
        <Badge>{t.coming}</Badge>
        <span className={styles.none}>
          {t.activeFrom} <Time at={activeFrom} />
        </span>
      </>
    );
  if (isCurrent)
    return (
      <Badge tone="good" hasDot>
        {t.signs}
      </Badge>
    );
  return <Badge>{status === 'RETIRED' ? t.retired : t.signsBeside}</Badge>;
}

const None = () => <span className={styles.none}>—</span>;
