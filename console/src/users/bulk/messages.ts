import { defineMessages } from '../../kit/language/messages.ts';

const users = (count: number) => (count === 1 ? '1 user' : `${count} users`);

export const bulkMessages = defineMessages({
  en: {
    menu: (name: string) => `Actions for ${name}`,
    open: 'Open',
    export: 'Export',
    cancel: 'Cancel',
    role: 'Assign role',
    searchRoles: 'Search roles for users',
    typeToConfirm: (count: number) => `Type “${count}” to confirm`,
    differs: 'This does not match the number.',
    running: (done: number, all: number) => `${done} of ${all} done`,
    failed: (failed: number, all: number) => `${failed} of ${all} failed`,
    labels: {
      suspend: 'Suspend',
      reactivate: 'Reactivate',
      signOut: 'Sign out everywhere',
      delete: 'Delete',
    },
    titles: {
      suspend: (count: number) => `Suspend ${users(count)}?`,
      reactivate: (count: number) => `Reactivate ${users(count)}?`,
      signOut: (count: number) => `Sign out ${users(count)} everywhere?`,
      delete: (count: number) => `Delete ${users(count)}?`,
      role: (count: number) => `Assign a role to ${users(count)}`,
    },
    texts: {
      suspend:
        'All their sessions and tokens end at once. Nobody can sign in with these accounts until they are reactivated.',
      reactivate: 'They can sign in again. Ended sessions stay ended.',
      signOut: 'All their sessions and tokens end at once. They can sign in again.',
      delete:
        'The accounts are deleted, with their sessions, tokens, roles and memberships. This cannot be undone.',
      role: 'Users who have it already keep it.',
    },
    done: {
      suspend: (count: number) => `${users(count)} suspended`,
      reactivate: (count: number) => `${users(count)} reactivated`,
      signOut: (count: number) => `${users(count)} signed out`,
      delete: (count: number) => `${users(count)} deleted`,
      role: (count: number) => `Role assigned to ${users(count)}`,
    },
  },
  de: {
    menu: (name) => `Aktionen für ${name}`,
    open: 'Öffnen',
    export: 'Exportieren',
    cancel: 'Abbrechen',
    role: 'Rolle zuweisen',
    searchRoles: 'Rollen für Personen suchen',
    typeToConfirm: (count) => `Geben Sie zur Bestätigung „${count}“ ein`,
    differs: 'Das stimmt nicht mit der Anzahl überein.',
    running: (done, all) => `${done} von ${all} erledigt`,
    failed: (failed, all) => `${failed} von ${all} fehlgeschlagen`,
    labels: {
      suspend: 'Sperren',
      reactivate: 'Reaktivieren',
      signOut: 'Überall abmelden',
      delete: 'Löschen',
    },
    titles: {
      suspend: (count) => `${count} Benutzer sperren?`,
      reactivate: (count) => `${count} Benutzer reaktivieren?`,
      signOut: (count) => `${count} Benutzer überall abmelden?`,
      delete: (count) => `${count} Benutzer löschen?`,
      role: (count) => `${count} Benutzern eine Rolle zuweisen`,
    },
    texts: {
      suspend:
        'Alle ihre Sitzungen und Tokens enden sofort. Bis zur Reaktivierung kann sich niemand mit diesen Konten anmelden.',
      reactivate: 'Sie können sich wieder anmelden. Beendete Sitzungen bleiben beendet.',
      signOut: 'Alle ihre Sitzungen und Tokens enden sofort. Sie können sich wieder anmelden.',
      delete:
        'Die Konten werden gelöscht, mit Sitzungen, Tokens, Rollen und Mitgliedschaften. Das lässt sich nicht rückgängig machen.',
      role: 'Wer sie schon hat, behält sie.',
    },
    done: {
      suspend: (count) => `${count} Benutzer gesperrt`,
      reactivate: (count) => `${count} Benutzer reaktiviert`,
      signOut: (count) => `${count} Benutzer abgemeldet`,
      delete: (count) => `${count} Benutzer gelöscht`,
      role: (count) => `Rolle an ${count} Benutzer zugewiesen`,
    },
  },
});
