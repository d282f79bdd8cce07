import { defineMessages } from '../language/messages.ts';

export const listMessages = defineMessages({
  en: {
    search: 'Search',
    clear: 'Clear',
    clearFilters: 'Clear filters',
    previous: 'Previous',
    next: 'Next',
    pages: 'Pages',
    nothingFits: 'Nothing fits',
    nothingFitsText: 'No record fits the search and the filters.',
    rowsOnPage: (count: number) =>
      count === 1 ? '1 row on this page' : `${count} rows on this page`,
    sortedBy: (column: string) => `Order by ${column}`,
    yes: 'Yes',
    no: 'No',
  },
  de: {
    search: 'Suche',
    clear: 'Leeren',
    clearFilters: 'Filter aufheben',
    previous: 'Zurück',
    next: 'Weiter',
    pages: 'Seiten',
    nothingFits: 'Nichts passt',
    nothingFitsText: 'Kein Eintrag passt zu Suche und Filtern.',
    rowsOnPage: (count) =>
      count === 1 ? '1 Zeile auf dieser Seite' : `${count} Zeilen auf dieser Seite`,
    sortedBy: (column) => `Nach ${column} ordnen`,
    yes: 'Ja',
    no: 'Nein',
  },
});
