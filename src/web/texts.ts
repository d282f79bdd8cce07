import type { FactorType } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';

const en = {
  signIn: 'Sign in',
  continue: 'Continue',
  optional: 'optional',
  password: 'Password',
  newPassword: 'New password',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  email: 'E-mail address',
  phone: 'Phone number',
  phoneHint: 'With the country code, such as +49 151 23456789.',
  invalidEmail: 'This is not an e-mail address.',
  unsendableEmail: 'No e-mail can be sent to this address from here. Use another one.',
  invalidPhone: 'This is not a phone number with its country code.',
  username: 'User name',
  usernameHint: 'Letters, digits and underscores. It begins with a letter.',
  code: 'Code',
  codeSends: 'It is sent once all six digits are there.',
  sendCode: 'Send code',
  enterCode: 'Enter the code',
  codeSent: (recipient: string) =>
    `If ${recipient} can be used here, a message with a six-digit code is on its way.`,
  notArrived: 'Didn’t get it?',
  sendAnother: 'Send a new code',
  otherAddress: 'Use another address',
  chooseNewPassword: 'Choose a new password',
  passwordHint: (minLength: number) =>
    `${minLength} characters or more. A sentence of several words is easy to remember and hard to guess.`,
  savePassword: 'Save password',
  rejected: {
    TOO_SHORT: (minLength: number) => `It needs ${minLength} characters or more.`,
    TOO_LONG: 'It can have 256 characters at most.',
    COMMON: 'It is on a list of common passwords.',
    USER_DATA: 'It is too close to your name, your address or the name of this service.',
    BLOCKLISTED: 'It contains a word that is not allowed here.',
    INVALID_CHARACTER: 'It has a character that cannot be stored.',
  } as Readonly<Record<string, string | ((minLength: number) => string)>>,
  usePasskey: 'Use a passkey',
  createPasskey: 'Create a passkey',
  createPasskeyLead:
    'Sign in with your fingerprint, your face or the PIN of your device. Nobody can guess a passkey or trick you into giving it away.',
  passkeyName: 'Name of the passkey',
  passkeyNameHint: 'To tell it from others, such as “Work laptop”.',
  passkeysUnavailable: 'This browser cannot use passkeys here, or JavaScript is turned off.',
  passkeyCancelled: 'No passkey was used. Try again, or choose another way.',
  passkeyNotMade: 'No passkey was created. Try again, or continue without one.',
  passkeyKnown: 'This device already has a passkey for your account.',
  continueWith: (provider: string) => `Continue with ${provider}`,
  scope: {
    openid: 'Know who you are',
    profile: 'Your name, picture and profile',
    email: 'Your e-mail address',
    phone: 'Your phone number',
    offline_access: 'Keep this access while you are away',
  } as Readonly<Record<string, string>>,
  error: 'Error',
  failedTitle: 'Something went wrong',
  failed: 'It was not your fault. Nothing was lost. Try again in a moment.',
  refused: 'This request was not accepted. Nothing was changed.',
  waitTitle: 'Please wait a moment',
  tryAgain: 'Try again',
  signOut: 'Sign out',
  signedOut: 'You are signed out',
  toAccount: 'Go to your account',
  wrongInput: 'That is not right. Check it and try again.',
  wrongPasskey: 'That passkey cannot be used here. Try another passkey, or choose another way.',
  problem: {
    LOCKED: (minutes: number) =>
      `Too many failed attempts. Try again ${minutes <= 1 ? 'in a minute' : `in ${minutes} minutes`}.`,
    WAIT: (seconds: number) =>
      seconds >= 90
        ? `Too many requests in a short time. Try again in ${Math.ceil(seconds / 60)} minutes.`
        : `Too many requests in a short time. Try again in ${seconds} seconds.`,
    BUSY: 'Many people are signing in right now. Try again in a few seconds.',
    FORM_EXPIRED: 'This form was open for too long. Nothing was sent; try again.',
    CHECK: 'Check what is marked below.',
    TAKEN: 'This is already taken. Choose another.',
    NOT_OFFERED: 'This is not available here.',
  },
  ofFactor: {
    TOTP: {
      name: 'Authenticator app',
      choose: 'An authenticator app',
      add: 'Add an authenticator app',
      setUp: 'Set up an authenticator app',
      heading: 'Enter the code of your app',
      lead: 'Your authenticator app shows a code of six digits for your account.',
      label: 'Code',
      instead: 'Use your authenticator app instead',
    },
    PASSKEY: {
      name: 'Passkey',
      choose: 'A passkey',
      add: 'Add a passkey',
      instead: 'Use a passkey instead',
    },
    BACKUP_CODES: {
      name: 'Backup codes',
      choose: 'Backup codes',
      add: 'Create backup codes',
      setUp: 'Save backup codes',
      heading: 'Enter a backup code',
      lead: 'You got backup codes when you set up your second factor. Each can be used once.',
      label: 'Backup code',
      instead: 'Use a backup code instead',
    },
  } satisfies Record<FactorType, object>,
  newFactor: {
    appLead: 'Scan this picture with an authenticator app. Then enter the code that the app shows.',
    qrCode: 'QR code for an authenticator app',
    typeKey: 'No camera? Type this key into the app:',
    openApp: 'Open an app on this device',
    appCode: 'Code',
    appCodeHint: 'Six digits. The app shows new ones every 30 seconds.',
    backupLead:
      'With a backup code you can sign in when your other factor is lost. Each can be used once.',
    codes: 'Your backup codes',
    codesLead: 'Print them or write them down, and keep them in a safe place.',
    codesOnce: 'They are shown only now. Earlier backup codes can no longer be used.',
  },
  terms: 'Terms',
  privacy: 'Privacy',
  unavailableTitle: 'Back in a moment',
  unavailable:
    'The service cannot answer now. Nothing was lost: load this page again in a few seconds.',
};

/** The texts that pages share. */
export type SharedTexts = typeof en;

const de: SharedTexts = {
  signIn: 'Anmelden',
  continue: 'Weiter',
  optional: 'freiwillig',
  password: 'Passwort',
  showPassword: 'Passwort anzeigen',
  hidePassword: 'Passwort verbergen',
  newPassword: 'Neues Passwort',
  email: 'E-Mail-Adresse',
  phone: 'Telefonnummer',
  phoneHint: 'Mit Ländervorwahl, etwa +49 151 23456789.',
  invalidEmail: 'Das ist keine E-Mail-Adresse.',
  unsendableEmail:
    'An diese Adresse kann von hier keine E-Mail gesendet werden. Nehmen Sie eine andere.',
  invalidPhone: 'Das ist keine Telefonnummer mit Ländervorwahl.',
  username: 'Benutzername',
  usernameHint: 'Buchstaben, Ziffern und Unterstriche; beginnt mit einem Buchstaben.',
  code: 'Code',
  codeSends: 'Er wird gesendet, sobald alle sechs Ziffern da sind.',
  sendCode: 'Code senden',
  enterCode: 'Code eingeben',
  codeSent: (recipient) =>
    `Wenn ${recipient} hier verwendet werden kann, ist eine Nachricht mit einem sechsstelligen Code unterwegs.`,
  notArrived: 'Nichts angekommen?',
  sendAnother: 'Neuen Code senden',
  otherAddress: 'Andere Adresse verwenden',
  chooseNewPassword: 'Neues Passwort wählen',
  passwordHint: (minLength) =>
    `Mindestens ${minLength} Zeichen. Ein Satz aus mehreren Wörtern ist leicht zu merken und schwer zu erraten.`,
  savePassword: 'Passwort speichern',
  rejected: {
    TOO_SHORT: (minLength: number) => `Es braucht mindestens ${minLength} Zeichen.`,
    TOO_LONG: 'Es kann höchstens 256 Zeichen haben.',
    COMMON: 'Es steht auf einer Liste häufiger Passwörter.',
    USER_DATA: 'Es ist Ihrem Namen, Ihrer Adresse oder dem Namen dieses Dienstes zu ähnlich.',
    BLOCKLISTED: 'Es enthält ein Wort, das hier nicht erlaubt ist.',
    INVALID_CHARACTER: 'Es enthält ein Zeichen, das nicht gespeichert werden kann.',
  },
  usePasskey: 'Passkey verwenden',
  createPasskey: 'Passkey anlegen',
  createPasskeyLead:
    'Damit melden Sie sich mit Fingerabdruck, Gesicht oder der PIN Ihres Geräts an. Niemand kann ihn erraten oder Sie dazu bringen, ihn preiszugeben.',
  passkeyName: 'Name des Passkeys',
  passkeyNameHint: 'Um ihn von anderen zu unterscheiden, etwa „Laptop im Büro“.',
  passkeysUnavailable:
    'Dieser Browser kann hier keine Passkeys verwenden, oder JavaScript ist abgeschaltet.',
  passkeyCancelled:
    'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal oder gehen Sie einen anderen Weg.',
  passkeyNotMade:
    'Es wurde kein Passkey angelegt. Versuchen Sie es noch einmal oder gehen Sie ohne ihn weiter.',
  passkeyKnown: 'Auf diesem Gerät gibt es schon einen Passkey für Ihr Konto.',
  continueWith: (provider) => `Weiter mit ${provider}`,
  scope: {
    openid: 'Wissen, wer Sie sind',
    profile: 'Ihr Name, Bild und Profil',
    email: 'Ihre E-Mail-Adresse',
    phone: 'Ihre Telefonnummer',
    offline_access: 'Diesen Zugriff behalten, wenn Sie nicht da sind',
  },
  error: 'Fehler',
  failedTitle: 'Etwas ist schiefgegangen',
  failed: 'Es liegt nicht an Ihnen. Nichts ging verloren; versuchen Sie es gleich noch einmal.',
  refused: 'Diese Anfrage wurde nicht angenommen. Nichts wurde geändert.',
  waitTitle: 'Einen Moment, bitte',
  tryAgain: 'Noch einmal versuchen',
  signOut: 'Abmelden',
  signedOut: 'Sie sind abgemeldet',
  toAccount: 'Zu Ihrem Konto',
  wrongInput: 'Das ist nicht richtig. Prüfen Sie es und versuchen Sie es noch einmal.',
  wrongPasskey:
    'Dieser Passkey kann hier nicht verwendet werden. Versuchen Sie einen anderen oder gehen Sie einen anderen Weg.',
  problem: {
    LOCKED: (minutes) =>
      `Zu viele Fehlversuche. Versuchen Sie es ${minutes <= 1 ? 'in einer Minute' : `in ${minutes} Minuten`} noch einmal.`,
    WAIT: (seconds) =>
      seconds >= 90
        ? `Zu viele Anfragen in kurzer Zeit. Versuchen Sie es in ${Math.ceil(seconds / 60)} Minuten noch einmal.`
        : `Zu viele Anfragen in kurzer Zeit. Versuchen Sie es in ${seconds} Sekunden noch einmal.`,
    BUSY: 'Gerade melden sich viele an. Versuchen Sie es in einigen Sekunden noch einmal.',
    FORM_EXPIRED:
      'Dieses Formular war zu lange offen. Nichts wurde gesendet; versuchen Sie es noch einmal.',
    CHECK: 'Prüfen Sie, was unten markiert ist.',
    TAKEN: 'Das ist bereits vergeben. Wählen Sie etwas anderes.',
    NOT_OFFERED: 'Das ist hier nicht verfügbar.',
  },
  ofFactor: {
    TOTP: {
      name: 'Authentifizierungs-App',
      choose: 'Eine Authentifizierungs-App',
      add: 'Authentifizierungs-App hinzufügen',
      setUp: 'Authentifizierungs-App einrichten',
      heading: 'Code Ihrer App eingeben',
      lead: 'Ihre Authentifizierungs-App zeigt für Ihr Konto einen sechsstelligen Code.',
      label: 'Code',
      instead: 'Stattdessen mit der Authentifizierungs-App',
    },
    PASSKEY: {
      name: 'Passkey',
      choose: 'Einen Passkey',
      add: 'Passkey hinzufügen',
      instead: 'Stattdessen mit einem Passkey',
    },
    BACKUP_CODES: {
      name: 'Ersatzcodes',
      choose: 'Ersatzcodes',
      add: 'Ersatzcodes erstellen',
      setUp: 'Ersatzcodes sichern',
      heading: 'Ersatzcode eingeben',
      lead: 'Ersatzcodes haben Sie beim Einrichten Ihres zweiten Faktors bekommen. Jeder gilt einmal.',
      label: 'Ersatzcode',
      instead: 'Stattdessen mit einem Ersatzcode',
    },
  },
  newFactor: {
    appLead:
      'Scannen Sie dieses Bild mit einer Authentifizierungs-App. Geben Sie dann den Code ein, den die App zeigt.',
    qrCode: 'QR-Code für eine Authentifizierungs-App',
    typeKey: 'Keine Kamera? Geben Sie diesen Schlüssel in die App ein:',
    openApp: 'App auf diesem Gerät öffnen',
    appCode: 'Code',
    appCodeHint: 'Sechs Ziffern. Die App zeigt alle 30 Sekunden neue.',
    backupLead:
      'Mit einem Ersatzcode melden Sie sich an, wenn Ihr anderer Faktor verloren ist. Jeder gilt einmal.',
    codes: 'Ihre Ersatzcodes',
    codesLead: 'Drucken Sie sie aus oder schreiben Sie sie ab, und bewahren Sie sie sicher auf.',
    codesOnce: 'Sie werden nur jetzt gezeigt. Frühere Ersatzcodes gelten nicht mehr.',
  },
  terms: 'Nutzungsbedingungen',
  privacy: 'Datenschutz',
  unavailableTitle: 'Gleich geht es weiter',
  unavailable:
    'Der Dienst kann gerade nicht antworten. Nichts ging verloren: Laden Sie diese Seite in einigen Sekunden noch einmal.',
};

/** The texts that pages share, by language. */
export const sharedTexts: Readonly<Record<Language, SharedTexts>> = { en, de };

/** Adds the shared texts to those of a site. The site's own come first. */
export const withShared = <T extends object>(
  own: Readonly<Record<Language, T>>,
): Readonly<Record<Language, SharedTexts & T>> => ({
  en: { ...en, ...own.en },
  de: { ...de, ...own.de },
});
