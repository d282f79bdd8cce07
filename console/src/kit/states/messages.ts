import { defineMessages } from '../language/messages.ts';

export const stateMessages = defineMessages({
  en: {
    loading: 'Loading …',
    failedTitle: 'Could not load this',
    unreachable: 'The service does not answer.',
    tryAgain: 'Try again',
    forbiddenTitle: 'You do not have access to this page',
    forbiddenText: (scope: string) =>
      `It needs the scope ${scope}. An administrator can give you a role that has it.`,
    notFoundTitle: 'Not found',
    notFoundText: 'It may have been deleted, or the address is wrong.',
    toOverview: 'Go to the overview',
    brokenTitle: 'Something went wrong on this page',
    brokenText: 'This is a bug in the console. Other pages still work.',
    reload: 'Reload',
  },
  de: {
    loading: 'Wird geladen …',
    failedTitle: 'Das konnte nicht geladen werden',
    unreachable: 'Der Dienst antwortet nicht.',
    tryAgain: 'Noch einmal versuchen',
    forbiddenTitle: 'Sie haben keinen Zugriff auf diese Seite',
    forbiddenText: (scope) =>
      `Dafür ist der Scope ${scope} nötig. Ein Administrator kann Ihnen eine Rolle geben, die ihn hat.`,
    notFoundTitle: 'Nicht gefunden',
    notFoundText: 'Es wurde vielleicht gelöscht, oder die Adresse stimmt nicht.',
    toOverview: 'Zur Übersicht',
    brokenTitle: 'Auf dieser Seite ist etwas schiefgegangen',
    brokenText: 'Das ist ein Fehler der Konsole. Alles andere funktioniert weiter.',
    reload: 'Neu laden',
  },
});
