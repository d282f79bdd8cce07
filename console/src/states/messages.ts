import { defineMessages } from '../language/messages.ts';

export const stateMessages = defineMessages({
  en: {
    loading: 'Loading …',
    failedTitle: 'This could not be loaded',
    unreachable: 'The service does not answer.',
    tryAgain: 'Try again',
    forbiddenTitle: 'Your rights do not cover this page',
    forbiddenText: (scope: string) =>
      `It needs the scope ${scope}. An administrator can give you a role that has it.`,
    notFoundTitle: 'There is nothing here',
    notFoundText: 'It may have been deleted, or the address is wrong.',
    toOverview: 'To the overview',
    brokenTitle: 'This page has broken',
    brokenText: 'That is a fault of the console. The rest of it still works.',
    reload: 'Reload',
  },
  de: {
    loading: 'Wird geladen …',
    failedTitle: 'Das konnte nicht geladen werden',
    unreachable: 'Der Dienst antwortet nicht.',
    tryAgain: 'Noch einmal versuchen',
    forbiddenTitle: 'Ihre Rechte umfassen diese Seite nicht',
    forbiddenText: (scope) =>
      `Dafür ist der Scope ${scope} nötig. Ein Administrator kann Ihnen eine Rolle geben, die ihn hat.`,
    notFoundTitle: 'Hier ist nichts',
    notFoundText: 'Es wurde vielleicht gelöscht, oder die Adresse stimmt nicht.',
    toOverview: 'Zur Übersicht',
    brokenTitle: 'Diese Seite ist fehlgeschlagen',
    brokenText: 'Das ist ein Fehler der Konsole. Alles andere funktioniert weiter.',
    reload: 'Neu laden',
  },
});
