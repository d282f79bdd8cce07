import { useAddress } from '../kit/address.ts';
import { useData } from '../kit/api/use-data.ts';
import { ButtonLink } from '../kit/controls/button.tsx';
import { useMessages } from '../kit/language/language.ts';
import { DataTable } from '../kit/lists/data-table.tsx';
import { Section } from '../kit/records/section.tsx';
import { Failed } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import { Permissions } from './documents.ts';
import { permissionMessages } from './messages.ts';
import { Sources } from './sources.tsx';
import { TargetPickers, useAskedApi } from './target-pickers.tsx';

/** What a user or an application may do at an API, and by which roles. */
export function PermissionsTab({ subjectId }: { subjectId: string }) {
  const t = useMessages(permissionMessages);
  return (
    <Section
      title={t.permissions}
      about={t.permissionsAbout}
      action={
        <ButtonLink
          size="small"
          to="/explain"
          search={subjectId.startsWith('user_') ? { user: subjectId } : { application: subjectId }}
        >
          {t.explain}
        </ButtonLink>
      }
    >
      <TargetPickers />
      <Answer subjectId={subjectId} />
    </Section>
  );
}

function Answer({ subjectId }: { subjectId: string }) {
  const t = useMessages(permissionMessages);
  const { address } = useAddress();
  const { api, ...asking } = useAskedApi();
  const { data, isFetching, ...asked } = useData(
    Permissions,
    {
      subjectId,
      resource: api?.indicator ?? '',
      organizationId: address['organization'],
    },
    { pause: !api },
  );
  const failed = [asking, asked].find(({ error }) => error);
  if (!address['api']) {
    return (
      <EmptyState icon="apis" title={t.chooseApiTitle}>
        {t.chooseApiText}
      </EmptyState>
    );
  }
  if (failed?.error) return <Failed error={failed.error} onRetry={failed.refetch} />;
  if (api === null) {
    return (
      <EmptyState icon="apis" title={t.unknownApi}>
        {t.unknownApiText}
      </EmptyState>
    );
  }
  if (!data) return <Loading />;
  if (data.permissions.length === 0) {
    return (
      <EmptyState icon="roles" title={t.noPermissionsTitle}>
        {t.noPermissionsText}
      </EmptyState>
    );
  }
  return (
    <DataTable
      label={t.permissions}
      isStale={isFetching}
      rows={data.permissions.map(({ scope, sources }) => ({ ...scope, sources }))}
      columns={[
        { id: 'scope', header: t.scope, cell: ({ name }) => <code>{name}</code> },
        {
          id: 'description',
          header: t.description,
          from: 'wide',
          cell: ({ description }) => description,
        },
        {
          id: 'sources',
          header: t.because,
          wraps: true,
          cell: ({ sources }) => <Sources sources={sources} />,
        },
      ]}
    />
  );
}
