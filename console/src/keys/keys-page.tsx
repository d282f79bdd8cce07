import { useState } from 'react';
import { useData } from '../api/use-data.ts';
import { Badge } from '../controls/badge.tsx';
import { Button, IconButton } from '../controls/button.tsx';
import { CopyBlock, CopyId } from '../controls/copy.tsx';
import { Time } from '../controls/time.tsx';
import { ConfirmAction } from '../dialogs/confirm-action.tsx';
import { Dialog, DialogFooter } from '../dialogs/dialog.tsx';
import { toast } from '../dialogs/toasts.ts';
import type { SigningKeysQuery } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { DataTable } from '../lists/data-table.tsx';
import { useOpenInAddress } from '../lists/open-in-address.ts';
import { Page } from '../records/page.tsx';
import { Properties, Property, Section } from '../records/section.tsx';
import { serviceUrl } from '../service-url.ts';
import { useCan } from '../session/session.ts';
import { Failed, Forbidden } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { DeleteSigningKey, SigningKeys } from './documents.ts';
import styles from './keys.module.css';
import { keyMessages } from './messages.ts';
import { RotateDialog } from './rotate.tsx';

type Key = SigningKeysQuery['signingKeys']['edges'][number]['node'];

/** The keys that sign tokens, and their rotation. Only the scope `all` covers them. */
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
      {isAllowed && <RotateDialog isOpen={rotation.isOpen} onClose={rotation.close} />}
    </Page>
  );
}

function Keys() {
  const t = useMessages(keyMessages);
  const { data, error, askAgain } = useData(SigningKeys, {});
  const [shown, setShown] = useState<Key>();
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
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
                {key.retiredAt && (
                  <ConfirmAction
                    label={t.delete}
                    title={t.deleteTitle}
                    text={t.deleteText}
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

function State({ of: { isCurrent, retiredAt } }: { of: Key }) {
  const t = useMessages(keyMessages);
  if (isCurrent)
    return (
      <Badge tone="good" hasDot>
        {t.signs}
      </Badge>
    );
  return <Badge>{retiredAt ? t.retired : t.signsIdTokens}</Badge>;
}

const None = () => <span className={styles.none}>—</span>;
