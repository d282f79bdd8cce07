import { defineMessages } from '../../kit/language/messages.ts';

export const filterMessages = defineMessages({
  en: {
    between: (since: string, until: string) => `${since} – ${until}`,
    since: (since: string) => `since ${since}`,
    until: (until: string) => `until ${until}`,
    clearTime: (time: string) => `Any time instead of ${time}`,
    export: 'Export',
    exportHint: 'All events that match the filters, as lines of JSON (NDJSON)',
    saved: 'Saved filters',
    none: 'None yet. Choose filters, then save them here.',
    name: 'Name of the filter',
    save: 'Save these filters',
    remove: (name: string) => `Remove ${name}`,
    kept: 'Kept in this browser, for you alone.',
  },
  de: {
    between: (since, until) => `${since} – ${until}`,
    since: (since) => `seit ${since}`,
    until: (until) => `bis ${until}`,
    clearTime: (time) => `Beliebige Zeit statt ${time}`,
    export: 'Exportieren',
    exportHint: 'Alle Ereignisse, die zu den Filtern passen, als JSON-Zeilen (NDJSON)',
    saved: 'Gespeicherte Filter',
    none: 'Noch keine. Wählen Sie Filter und speichern Sie sie hier.',
    name: 'Name des Filters',
    save: 'Diese Filter speichern',
    remove: (name) => `${name} entfernen`,
    kept: 'In diesem Browser gespeichert, nur für Sie.',
  },
});
