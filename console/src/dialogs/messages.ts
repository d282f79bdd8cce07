import { defineMessages } from '../language/messages.ts';

export const dialogMessages = defineMessages({
  en: {
    dismiss: 'Dismiss',
    close: 'Close',
    cancel: 'Cancel',
    delete: 'Delete',
    deleteThing: (name: string) => `Delete ${name}?`,
    typeToConfirm: (name: string) => `Type “${name}” to confirm`,
    nameDiffers: 'This is not the name shown above.',
    goesToo: 'What goes with it:',
    leaveTitle: 'Leave without saving?',
    leaveText: 'What you have changed here has not been saved.',
    leave: 'Leave',
    stay: 'Stay',
  },
  de: {
    dismiss: 'Verwerfen',
    close: 'Schließen',
    cancel: 'Abbrechen',
    delete: 'Löschen',
    deleteThing: (name) => `${name} löschen?`,
    typeToConfirm: (name) => `Geben Sie zur Bestätigung „${name}“ ein`,
    nameDiffers: 'Das ist nicht der Name, der oben steht.',
    goesToo: 'Das geht mit verloren:',
    leaveTitle: 'Ohne Speichern verlassen?',
    leaveText: 'Ihre Änderungen auf dieser Seite sind noch nicht gespeichert.',
    leave: 'Verlassen',
    stay: 'Bleiben',
  },
});
