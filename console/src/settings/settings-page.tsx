import { Badge } from '../controls/badge.tsx';
import { CopyId } from '../controls/copy.tsx';
import { Notice } from '../controls/notice.tsx';
import { Time } from '../controls/time.tsx';
import { useMessages } from '../language/language.ts';
import { Page } from '../records/page.tsx';
import { Properties, Property, Section } from '../records/section.tsx';
import { serviceUrl } from '../service-url.ts';
import { useCan, useSession } from '../session/session.ts';
import { settingsMessages } from './messages.ts';
import { ServiceSections } from './service-sections.tsx';
import styles from './settings.module.css';

/** Where the service is found, how it is set up, and what the person may do. */
export function SettingsPage() {
  const t = useMessages(settingsMessages);
  const seesService = useCan('events:read');
  return (
    <Page heading={t.heading} lead={t.lead} width="reading">
      <div className={styles.sections}>
        {seesService && <ServiceSections />}
        {seesService && <Notice title={t.change}>{t.changeText}</Notice>}
        <Addresses />
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
