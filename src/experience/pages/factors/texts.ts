/** The texts of the pages of second factors, in English. */
export const en = {
  useOtherAccount: 'Use another account',
  verify: {
    TOTP: {
      heading: 'Enter the code of your app',
      lead: 'Your authenticator app shows a code of six digits for your account.',
      label: 'Code',
      instead: 'Use your authenticator app instead',
    },
    BACKUP_CODES: {
      heading: 'Enter a backup code',
      lead: 'You got backup codes when you set up your second factor. Each can be used once.',
      label: 'Backup code',
      instead: 'Use a backup code instead',
    },
    PASSKEY: { instead: 'Use a passkey instead' },
  },
  choose: 'Protect your account',
  chooseLead:
    'With a second factor, nobody signs in to your account with a stolen password alone. What do you want to use?',
  enroll: {
    TOTP: 'An authenticator app',
    PASSKEY: 'A passkey',
    BACKUP_CODES: 'Backup codes',
  },
  otherFactor: 'Choose another factor',
  app: 'Set up an authenticator app',
  appLead: 'Scan this picture with an authenticator app. Then enter the code that the app shows.',
  qrCode: 'QR code for an authenticator app',
  typeKey: 'No camera? Type this key into the app:',
  openApp: 'Open an app on this device',
  appCode: 'Code',
  appCodeHint: 'Six digits. The app shows new ones every 30 seconds.',
  backup: 'Save backup codes',
  backupLead:
    'With a backup code you can sign in when your other factor is lost. Each can be used once.',
  createCodes: 'Create backup codes',
  codes: 'Your backup codes',
  codesLead: 'Print them or write them down, and keep them in a safe place.',
  codesOnce: 'They are shown only now. Earlier backup codes can no longer be used.',
  codesSaved: 'I have saved them',
};

/** The texts of the pages of second factors. */
export type FactorTexts = typeof en;

/** The texts of the pages of second factors, in German. */
export const de: FactorTexts = {
  useOtherAccount: 'Anderes Konto verwenden',
  verify: {
    TOTP: {
      heading: 'Code Ihrer App eingeben',
      lead: 'Ihre Authentifizierungs-App zeigt für Ihr Konto einen sechsstelligen Code.',
      label: 'Code',
      instead: 'Stattdessen mit der Authentifizierungs-App',
    },
    BACKUP_CODES: {
      heading: 'Ersatzcode eingeben',
      lead: 'Ersatzcodes haben Sie beim Einrichten Ihres zweiten Faktors bekommen. Jeder gilt einmal.',
      label: 'Ersatzcode',
      instead: 'Stattdessen mit einem Ersatzcode',
    },
    PASSKEY: { instead: 'Stattdessen mit einem Passkey' },
  },
  choose: 'Konto schützen',
  chooseLead:
    'Mit einem zweiten Faktor meldet sich niemand allein mit einem gestohlenen Passwort bei Ihrem Konto an. Was möchten Sie verwenden?',
  enroll: {
    TOTP: 'Eine Authentifizierungs-App',
    PASSKEY: 'Einen Passkey',
    BACKUP_CODES: 'Ersatzcodes',
  },
  otherFactor: 'Anderen Faktor wählen',
  app: 'Authentifizierungs-App einrichten',
  appLead:
    'Scannen Sie dieses Bild mit einer Authentifizierungs-App. Geben Sie dann den Code ein, den die App zeigt.',
  qrCode: 'QR-Code für eine Authentifizierungs-App',
  typeKey: 'Keine Kamera? Geben Sie diesen Schlüssel in die App ein:',
  openApp: 'App auf diesem Gerät öffnen',
  appCode: 'Code',
  appCodeHint: 'Sechs Ziffern. Die App zeigt alle 30 Sekunden neue.',
  backup: 'Ersatzcodes sichern',
  backupLead:
    'Mit einem Ersatzcode melden Sie sich an, wenn Ihr anderer Faktor verloren ist. Jeder gilt einmal.',
  createCodes: 'Ersatzcodes erstellen',
  codes: 'Ihre Ersatzcodes',
  codesLead: 'Drucken Sie sie aus oder schreiben Sie sie ab, und bewahren Sie sie sicher auf.',
  codesOnce: 'Sie werden nur jetzt gezeigt. Frühere Ersatzcodes gelten nicht mehr.',
  codesSaved: 'Ich habe sie gesichert',
};
