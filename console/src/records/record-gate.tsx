import type { ReactNode } from 'react';
import type { Asked } from '../api/use-data.ts';
import { Failed, NotFound } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { BackTo } from './back-to.tsx';
import { Page } from './page.tsx';

/** Shows a record once it is there; until then, or where it is not, what there is to say. */
export function RecordGate<Data, Found>({
  list,
  asked: { data, error, askAgain },
  record,
  children,
}: {
  /** The list that it belongs to. */
  list: { readonly to: string; readonly label: string };
  asked: Asked<Data>;
  record: (data: Data) => Found | null | undefined;
  children: (record: Found) => ReactNode;
}) {
  const found = data && record(data);
  if (found) return children(found);
  return (
    <Page heading={list.label} above={<BackTo {...list} />} width="reading">
      {error ? <Failed error={error} onRetry={askAgain} /> : data ? <NotFound /> : <Loading />}
    </Page>
  );
}
