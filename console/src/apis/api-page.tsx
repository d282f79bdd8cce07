import { useParams } from '@tanstack/react-router';
import { RecordEvents } from '../events/record-events.tsx';
import { useData } from '../kit/api/use-data.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { CopyId } from '../kit/controls/copy.tsx';
import { useMessages } from '../kit/language/language.ts';
import { RecordGate } from '../kit/records/record-gate.tsx';
import { RecordPage } from '../kit/records/record-page.tsx';
import { useCan } from '../kit/session/session.ts';
import { Api } from './documents.ts';
import { GeneralTab } from './general-tab.tsx';
import { isOwn } from './lifetime.ts';
import { apiPageMessages } from './messages.ts';

/** One API. */
export function ApiPage() {
  const { id } = useParams({ strict: false });
  return <ApiRecord key={id} id={id ?? ''} />;
}

function ApiRecord({ id }: { id: string }) {
  const t = useMessages(apiPageMessages);
  const list = { to: '/apis', label: t.heading };
  const canReadEvents = useCan('events:read');
  return (
    <RecordGate list={list} asked={useData(Api, { id })} record={({ resource }) => resource}>
      {(api) => (
        <RecordPage
          name={api.name}
          lead={
            <>
              {isOwn(api.indicator) && <Badge>{t.own}</Badge>}
              <CopyId id={api.indicator} thing={t.indicator} />
              <CopyId id={api.id} />
            </>
          }
          list={list}
          tabs={[
            { id: 'general', label: t.tabs.general, content: () => <GeneralTab api={api} /> },
            canReadEvents && {
              id: 'events',
              label: t.tabs.events,
              content: () => <RecordEvents filter={{ subjectId: id }} />,
            },
          ]}
        />
      )}
    </RecordGate>
  );
}
