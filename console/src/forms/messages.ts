import { defineMessages } from '../language/messages.ts';

export const formMessages = defineMessages({
  en: {
    save: 'Save',
    saved: 'Saved',
    discard: 'Discard',
    unsaved: 'Unsaved changes',
    optional: 'optional',
    required: 'This is needed.',
    notAnAddress: 'This is not an absolute address, such as https://app.example.com/callback.',
    notAnEmail: 'This is not an e-mail address.',
    addTo: (label: string) => `Add to ${label}`,
    showPassword: 'Show password',
    hidePassword: 'Hide password',
    refused: 'That was declined',
  },
  de: {
    save: 'Speichern',
    saved: 'Gespeichert',
    discard: 'Verwerfen',
    unsaved: 'Nicht gespeicherte Änderungen',
    optional: 'optional',
    required: 'Diese Angabe fehlt.',
    notAnAddress: 'Das ist keine vollständige Adresse wie https://app.example.com/callback.',
    notAnEmail: 'Das ist keine E-Mail-Adresse.',
    addTo: (label) => `Zu ${label} hinzufügen`,
    showPassword: 'Passwort zeigen',
    hidePassword: 'Passwort verbergen',
    refused: 'Das wurde abgelehnt',
  },
});
