import { useData } from '../kit/api/use-data.ts';
import { CopyId } from '../kit/controls/copy.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { DataTable } from '../kit/lists/data-table.tsx';
import { Properties, Property, Section } from '../kit/records/section.tsx';
import { Failed } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { ServiceSettings } from './documents.ts';
import { settingsMessages } from './messages.ts';
import styles from './settings.module.css';

/** The process that answers, and its configuration without secrets. */
export function ServiceSections() {
  const t = useMessages(settingsMessages);
  const { data, error, refetch } = useData(ServiceSettings, {});
  if (error && !data) return <Failed error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const { service } = data;
  return (
    <>
      <Section title={t.service} about={t.serviceAbout}>
        <Properties>
          <Property name={t.version}>{service.version}</Property>
          <Property name={t.baseUrl}>
            <CopyId id={service.baseUrl} thing={t.baseUrl} />
          </Property>
          <Property name={t.node}>{service.nodeId}</Property>
          <Property name={t.nodeVersion}>{service.nodeVersion}</Property>
          <Property name={t.startedAt}>
            <Time at={service.startedAt} />
          </Property>
          <Property name={t.database}>
            {`${t.databases[service.database]}, PostgreSQL ${service.databaseVersion}`}
          </Property>
        </Properties>
      </Section>
      <Section title={t.configuration} about={t.configurationAbout}>
        <DataTable
          label={t.configuration}
          rows={service.configuration.map((entry) => ({ id: entry.name, ...entry }))}
          columns={[
            { id: 'name', header: t.variable, cell: ({ name }) => <code>{name}</code> },
            {
              id: 'value',
              header: t.value,
              cell: ({ value }) =>
                value === '' ? (
                  <span className={styles.none}>{t.notSet}</span>
                ) : (
                  <code>{value}</code>
                ),
            },
          ]}
        />
      </Section>
    </>
  );
}
