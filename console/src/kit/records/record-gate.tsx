import type { ReactNode } from 'react';
import type { Asked } from '../api/use-data.ts';
import { Failed, NotFound } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { BackTo } from './back-to.tsx';
import { Page } from './page.tsx';

/** Shows a record once it is loaded; before, or if that fails, the state. */
export function RecordGate<Data, Found>({
  list,
  asked: { data, error, refetch },
  record,
  children,
}: {
  /** The list of such records. */
  list: { readonly to: string; readonly label: string };
  asked: Asked<Data>;
  record: (data: Data) => Found | null | undefined;
  children: (record: Found) => ReactNode;
}) {
  const found = data && record(data);
  if (found) return children(found);
  return (
    <Page heading={list.label} above={<BackTo {...list} />} width="reading">
      {error ? <Failed error={error} onRetry={refetch} /> : data ? <NotFound /> : <Loading />}
    </Page>
  );
}
