import { defineMessages } from '../language/messages.ts';

export const recordMessages = defineMessages({
  en: {
    breadcrumb: 'Breadcrumb',
    created: 'Created',
    updated: 'Last change',
    never: 'Never',
    none: '—',
  },
  de: {
    breadcrumb: 'Pfad',
    created: 'Angelegt',
    updated: 'Zuletzt geändert',
    never: 'Nie',
    none: '—',
  },
});
