import { useData } from '../kit/api/use-data.ts';
import { Notice } from '../kit/controls/notice.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { RunningService } from './documents.ts';
import { overviewMessages } from './messages.ts';

/** The versions of Signet, Node and the database. */
export function Running() {
  const t = useMessages(overviewMessages);
  const { data } = useData(RunningService, {});
  if (!data) return null;
  const { service } = data;
  const others = service.nodes.filter(({ isThis }) => !isThis);
  const differing = others.filter(({ differsIn }) => differsIn.length > 0);
  return (
    <Section title={t.service}>
      {differing.length > 0 && (
        <Notice tone="warn" title={t.differing}>
          {differing.map(({ name, version, differsIn }) => (
            <p key={name}>
              {name} · {version}: <code>{differsIn.join(', ')}</code>
            </p>
          ))}
        </Notice>
      )}
      <Properties>
        <Property name="Signet">{service.version}</Property>
        <Property name={t.process}>
          {service.nodeId} · Node.js {service.nodeVersion}
        </Property>
        {others.length > 0 && (
          <Property name={t.others}>{others.map(({ name }) => name).join(', ')}</Property>
        )}
        <Property name={t.database}>
          {service.database === 'EMBEDDED' ? t.embedded : 'PostgreSQL'} {service.databaseVersion}
        </Property>
        <Property name={t.startedAt}>
          <Time at={service.startedAt} />
        </Property>
        {service.previousSecret && (
          <Property name="SIGNET_SECRET_PREVIOUS">
            {t.previousSecret[service.previousSecret]}
          </Property>
        )}
      </Properties>
    </Section>
  );
}
