import { ButtonAnchor } from '../../kit/controls/button.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { servicePath } from '../../kit/service-url.ts';
import type { EventFilter } from '../feed.ts';
import { filterMessages } from './messages.ts';

/** Downloads the events that match a filter. The browser writes them to the file as they come. */
export function ExportLink({ filter }: { filter: EventFilter }) {
  const t = useMessages(filterMessages);
  const { types = [], subjectId, actorId, since, until } = filter;
  const query = new URLSearchParams(types.map((type) => ['types', type]));
  for (const [name, value] of Object.entries({ subjectId, actorId, since, until }))
    if (value) query.set(name, value);
  return (
    <ButtonAnchor
      href={`${servicePath}/console/export/events?${query}`}
      title={t.exportHint}
      download
    >
      {t.export}
    </ButtonAnchor>
  );
}
