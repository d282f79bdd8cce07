import { useState } from 'react';
import { fetchInSession, requiredHeaders } from '../kit/api/send.ts';
import { Button } from '../kit/controls/button.tsx';
import { CopyBlock } from '../kit/controls/copy.tsx';
import { quoted } from '../kit/controls/copy-as.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { servicePath, serviceUrl } from '../kit/service-url.ts';
import { toast } from '../kit/toasts.ts';
import styles from './developers.module.css';
import { developerMessages } from './messages.ts';

/** A token, as the service issues it. */
interface Issued {
  readonly accessToken: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string;
}

/** An access token with the rights of the session, for an hour. */
export function TokenTab() {
  const t = useMessages(developerMessages);
  const format = useFormat();
  const [issued, setIssued] = useState<Issued>();
  const [isBusy, setIsBusy] = useState(false);
  const create = async () => {
    setIsBusy(true);
    try {
      const response = await fetchInSession(`${servicePath}/console/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...requiredHeaders },
        body: '{}',
      });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      setIssued((await response.json()) as Issued);
    } catch {
      toast.failed(t.tokenFailed);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Section
      title={t.token}
      about={t.tokenAbout}
      action={
        <Button size="small" icon="plus" isBusy={isBusy} onClick={create}>
          {t.createToken}
        </Button>
      }
    >
      {issued && (
        <div className={styles.token}>
          <Notice tone="warn">{t.tokenWarning}</Notice>
          <CopyBlock label={t.token} text={issued.accessToken} />
          <Properties>
            <Property name={t.expires}>{format.dateTime(issued.expiresAt)}</Property>
            <Property name={t.scopes}>{issued.scopes.join(', ') || t.noScopes}</Property>
          </Properties>
          <p className={styles.about}>{t.tokenUse}</p>
          <CopyBlock
            label={t.command}
            text={`curl -s ${quoted(`${serviceUrl}/api/users?first=10`)} -H "Authorization: Bearer $TOKEN"`}
          />
        </div>
      )}
    </Section>
  );
}
