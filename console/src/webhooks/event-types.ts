import { type EventGroup, eventGroups, typesIn } from '../events/types.ts';
import type { EventType } from '../generated/graphql.ts';

/** Every type of event. */
export const allTypes: readonly EventType[] = (Object.keys(eventGroups) as EventGroup[]).flatMap(
  (group) => typesIn(group).map(([type]) => type),
);

const names = new Map(
  (Object.keys(eventGroups) as EventGroup[]).flatMap((group) => typesIn(group)),
);

/** A type's name in the catalogue. */
export const nameOfType = (type: EventType): string => names.get(type) ?? type;

/** The types in groups, as options of fields and filters. */
export const groupsOfTypes = (labels: Readonly<Record<EventGroup, string>>) =>
  (Object.keys(eventGroups) as EventGroup[]).map((group) => ({
    label: labels[group],
    options: typesIn(group).map(([value, label]) => ({ value, label })),
  }));
