import { Badge } from '../kit/controls/badge.tsx';
import { CopyId } from '../kit/controls/copy.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Page } from '../kit/records/page.tsx';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { serviceUrl } from '../kit/service-url.ts';
import { useCan, useSession } from '../kit/session/session.ts';
import { settingsMessages } from './messages.ts';
import { Proofs } from './proofs.tsx';
import { ServiceSections } from './service-sections.tsx';
import styles from './settings.module.css';

/** The service's URLs, its configuration, and the person's session. */
export function SettingsPage() {
  const t = useMessages(settingsMessages);
  const canReadService = useCan('events:read');
  const canReadSettings = useCan('applications:read');
  return (
    <Page heading={t.heading} lead={t.lead} width="reading">
      <div className={styles.sections}>
        {canReadService && <ServiceSections />}
        {canReadService && <Notice title={t.change}>{t.changeText}</Notice>}
        <Addresses />
        {canReadSettings && <Proofs />}
        <YourSession />
      </div>
    </Page>
  );
}

function Addresses() {
  const t = useMessages(settingsMessages);
  const addresses = [
    [t.issuer, '/oidc'],
    [t.discovery, '/oidc/.well-known/openid-configuration'],
    [t.tokenEndpoint, '/oidc/token'],
    [t.keySet, '/oidc/jwks'],
    [t.graphql, '/graphql'],
    [t.rest, '/api/openapi.json'],
    [t.metrics, '/metrics'],
  ] as const;
  return (
    <Section title={t.addresses} about={t.addressesAbout}>
      <Properties>
        {addresses.map(([name, path]) => (
          <Property key={path} name={name}>
            <CopyId id={`${serviceUrl}${path}`} thing={name} />
          </Property>
        ))}
      </Properties>
    </Section>
  );
}

function YourSession() {
  const t = useMessages(settingsMessages);
  const { user, scopes, expiresAt } = useSession();
  return (
    <Section title={t.session} about={t.sessionAbout}>
      <Properties>
        <Property name={t.signedInAs}>
          {user.name ?? user.username ?? user.primaryEmail ?? user.id}
        </Property>
        <Property name={t.userId}>
          <CopyId id={user.id} thing={t.userId} />
        </Property>
        <Property name={t.scopes}>
          <span className={styles.chips}>
            {scopes.map((scope) => (
              <Badge key={scope}>{scope}</Badge>
            ))}
          </span>
        </Property>
        <Property name={t.endsAt}>
          <Time at={expiresAt} />
        </Property>
      </Properties>
    </Section>
  );
}
