import { type MessageTemplate, unitFor, type Wording } from './wording.ts';

const minutesOf = (minutes: number) => (minutes === 1 ? 'einer Minute' : `${minutes} Minuten`);

const units = {
  day: ['einem Tag', 'Tagen'],
  hour: ['einer Stunde', 'Stunden'],
  minute: ['einer Minute', 'Minuten'],
} as const;

const timeOf = (minutes: number) => {
  const [unit, length] = unitFor(minutes);
  const count = Math.round(minutes / length);
  const [one, many] = units[unit];
  return count === 1 ? one : `${count} ${many}`;
};

/** The templates in German. */
export const de: Record<MessageTemplate, Wording> = {
  SIGN_IN: ({ productName, minutes }) => ({
    subject: `Ihr Anmeldecode für ${productName}`,
    before: `Mit diesem Code melden Sie sich bei ${productName} an:`,
    action: 'Anmelden',
    after: `Der Code läuft in ${minutesOf(minutes)} ab. Geben Sie ihn niemandem weiter. Wenn Sie sich nicht anmelden wollten, ignorieren Sie diese Nachricht.`,
    short: `${productName}: Geben Sie diesen Anmeldecode niemandem weiter.`,
  }),
  REGISTER: ({ productName, minutes }) => ({
    subject: `Bestätigen Sie Ihre Adresse für ${productName}`,
    before: `Mit diesem Code legen Sie Ihr Konto bei ${productName} an:`,
    action: 'Konto anlegen',
    after: `Der Code läuft in ${minutesOf(minutes)} ab. Geben Sie ihn niemandem weiter. Wenn Sie kein Konto anlegen wollten, ignorieren Sie diese Nachricht.`,
    short: `${productName}: Geben Sie diesen Code für Ihr neues Konto niemandem weiter.`,
  }),
  RESET_PASSWORD: ({ productName, minutes }) => ({
    subject: `Setzen Sie Ihr Passwort für ${productName} zurück`,
    before: `Mit diesem Code wählen Sie ein neues Passwort bei ${productName}:`,
    action: 'Neues Passwort wählen',
    after: `Der Code läuft in ${minutesOf(minutes)} ab. Geben Sie ihn niemandem weiter. Wenn Sie kein neues Passwort wollten, ignorieren Sie diese Nachricht: Ihr Passwort bleibt, wie es ist.`,
    short: `${productName}: Geben Sie diesen Code zum Zurücksetzen des Passworts niemandem weiter.`,
  }),
  LINK: ({ productName, minutes }) => ({
    subject: `Ihr Anmeldelink für ${productName}`,
    before: `Öffnen Sie diesen Link, um sich bei ${productName} anzumelden:`,
    action: 'Anmelden',
    after: `Der Link läuft in ${minutesOf(minutes)} ab und gilt einmal. Geben Sie ihn niemandem weiter. Wenn Sie sich nicht anmelden wollten, ignorieren Sie diese Nachricht.`,
    short: `${productName}: Mit diesem Link melden Sie sich an. Geben Sie ihn niemandem weiter.`,
  }),
  INVITATION: ({ productName, organization, minutes }) => ({
    subject: `Einladung zu ${organization}`,
    before: `Sie sind eingeladen, der Organisation ${organization} bei ${productName} beizutreten. Öffnen Sie diesen Link, und melden Sie sich mit dieser E-Mail-Adresse an, oder legen Sie ein Konto damit an:`,
    action: `${organization} beitreten`,
    after: `Die Einladung läuft in ${timeOf(minutes)} ab. Wenn Sie die Organisation nicht kennen, ignorieren Sie diese Nachricht.`,
    short: `${productName}: Sie sind zu ${organization} eingeladen.`,
  }),
  ACCOUNT_EXISTS: ({ productName }) => ({
    subject: `Sie haben schon ein Konto bei ${productName}`,
    before: `Jemand wollte mit Ihrer Adresse ein Konto bei ${productName} anlegen. Sie haben schon eines: Melden Sie sich damit an, oder wählen Sie ein neues Passwort, wenn Sie Ihres vergessen haben.`,
    action: 'Anmelden',
    after: 'Wenn Sie das nicht waren, ignorieren Sie diese Nachricht: Es hat sich nichts geändert.',
    short: `${productName}: Sie haben schon ein Konto. Melden Sie sich damit an, oder wählen Sie ein neues Passwort.`,
  }),
  NO_ACCOUNT: ({ productName }) => ({
    subject: `Kein Konto bei ${productName} hat diese Adresse`,
    before: `Jemand wollte sich mit Ihrer Adresse bei ${productName} anmelden, aber kein Konto hat sie. Vielleicht haben Sie eine andere Adresse verwendet.`,
    action: 'Konto anlegen',
    after: 'Wenn Sie das nicht waren, ignorieren Sie diese Nachricht.',
    short: `${productName}: Kein Konto hat diese Nummer. Vielleicht haben Sie eine andere verwendet.`,
  }),
  VERIFY_IDENTITY: ({ productName, minutes }) => ({
    subject: `Ihr Code für ${productName}`,
    before: `Jemand, der angemeldet ist, möchte Ihr Konto bei ${productName} ändern. Wenn Sie das sind, verwenden Sie diesen Code:`,
    action: 'Weiter',
    after: `Der Code läuft in ${minutesOf(minutes)} ab. Geben Sie ihn niemandem weiter. Wenn Sie das nicht sind, verwenden Sie ihn nicht: Wählen Sie ein neues Passwort, und melden Sie sich überall ab.`,
    short: `${productName}: Geben Sie diesen Code zum Ändern Ihres Kontos niemandem weiter.`,
  }),
  VERIFY_ADDRESS: ({ productName, minutes }) => ({
    subject: `Bestätigen Sie Ihre neue Adresse für ${productName}`,
    before: `Mit diesem Code fügen Sie diese Adresse Ihrem Konto bei ${productName} hinzu:`,
    action: 'Weiter',
    after: `Der Code läuft in ${minutesOf(minutes)} ab. Geben Sie ihn niemandem weiter. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese Nachricht.`,
    short: `${productName}: Geben Sie diesen Code für Ihre neue Adresse niemandem weiter.`,
  }),
  EMAIL_CHANGED: ({ productName }) => ({
    subject: `Ihre E-Mail-Adresse für ${productName} wurde geändert`,
    before: `Die E-Mail-Adresse Ihres Kontos bei ${productName} wurde soeben geändert.`,
    action: 'Konto öffnen',
    after:
      'Wenn Sie das nicht waren, wenden Sie sich sofort an die Betreiber des Dienstes: Vielleicht hat jemand anderes Ihr Konto.',
    short: `${productName}: Ihre E-Mail-Adresse wurde geändert. Wenn Sie das nicht waren, wenden Sie sich an die Betreiber des Dienstes.`,
  }),
  PHONE_CHANGED: ({ productName }) => ({
    subject: `Ihre Telefonnummer für ${productName} wurde geändert`,
    before: `Die Telefonnummer Ihres Kontos bei ${productName} wurde soeben geändert.`,
    action: 'Konto öffnen',
    after:
      'Wenn Sie das nicht waren, wenden Sie sich sofort an die Betreiber des Dienstes: Vielleicht hat jemand anderes Ihr Konto.',
    short: `${productName}: Ihre Telefonnummer wurde geändert. Wenn Sie das nicht waren, wenden Sie sich an die Betreiber des Dienstes.`,
  }),
  IDENTITY_ADDED: ({ productName }) => ({
    subject: `Eine Anmeldemöglichkeit für ${productName} wurde hinzugefügt`,
    before: `Das Konto eines anderen Dienstes wurde mit Ihrem Konto bei ${productName} verbunden. Sie können sich ab jetzt damit anmelden.`,
    action: 'Konto öffnen',
    after:
      'Wenn Sie das nicht waren, entfernen Sie es von Ihrem Konto, wählen Sie sofort ein neues Passwort, und wenden Sie sich an die Betreiber des Dienstes.',
    short: `${productName}: Eine Anmeldemöglichkeit wurde hinzugefügt. Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort.`,
  }),
  IDENTITY_REMOVED: ({ productName }) => ({
    subject: `Eine Anmeldemöglichkeit für ${productName} wurde entfernt`,
    before: `Das Konto eines anderen Dienstes wurde von Ihrem Konto bei ${productName} entfernt. Sie können sich damit nicht mehr anmelden.`,
    action: 'Konto öffnen',
    after:
      'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort, und wenden Sie sich an die Betreiber des Dienstes.',
    short: `${productName}: Eine Anmeldemöglichkeit wurde entfernt. Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort.`,
  }),
  USERNAME_CHANGED: ({ productName }) => ({
    subject: `Ihr Benutzername für ${productName} wurde geändert`,
    before: `Der Benutzername Ihres Kontos bei ${productName} wurde soeben geändert.`,
    action: 'Konto öffnen',
    after:
      'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort, und wenden Sie sich an die Betreiber des Dienstes.',
    short: `${productName}: Ihr Benutzername wurde geändert. Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort.`,
  }),
  ACCOUNT_DELETED: ({ productName }) => ({
    subject: `Ihr Konto bei ${productName} wurde gelöscht`,
    before: `Ihr Konto bei ${productName} wurde soeben gelöscht, wie Sie es wollten.`,
    action: 'Konto anlegen',
    after: 'Wenn Sie das nicht waren, wenden Sie sich an die Betreiber des Dienstes.',
    short: `${productName}: Ihr Konto wurde gelöscht. Wenn Sie das nicht waren, wenden Sie sich an die Betreiber des Dienstes.`,
  }),
  PASSWORD_CHANGED: ({ productName }) => ({
    subject: `Ihr Passwort für ${productName} wurde geändert`,
    before: `Das Passwort Ihres Kontos bei ${productName} wurde soeben geändert.`,
    action: 'Neues Passwort wählen',
    after:
      'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort, und wenden Sie sich an die Betreiber des Dienstes.',
    short: `${productName}: Ihr Passwort wurde geändert. Wenn Sie das nicht waren, wählen Sie sofort ein neues.`,
  }),
  FACTOR_ADDED: ({ productName }) => ({
    subject: `Ihr Konto bei ${productName} hat einen neuen zweiten Faktor`,
    before: `Ihrem Konto bei ${productName} wurde soeben ein zweiter Faktor hinzugefügt. Er kann bei der Anmeldung verlangt werden.`,
    action: 'Öffnen',
    after:
      'Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort, und wenden Sie sich an die Betreiber des Dienstes.',
    short: `${productName}: Ihr Konto hat einen neuen zweiten Faktor. Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort.`,
  }),
  FACTOR_REMOVED: ({ productName }) => ({
    subject: `Ein zweiter Faktor Ihres Kontos bei ${productName} wurde entfernt`,
    before: `Ein zweiter Faktor Ihres Kontos bei ${productName} wurde soeben entfernt. Er gilt bei der Anmeldung nicht mehr.`,
    action: 'Öffnen',
    after:
      'Wenn weder Sie das waren noch ein Administrator auf Ihren Wunsch, wählen Sie sofort ein neues Passwort, und wenden Sie sich an die Betreiber des Dienstes.',
    short: `${productName}: Ein zweiter Faktor Ihres Kontos wurde entfernt. Wenn Sie das nicht wollten, wenden Sie sich an die Betreiber des Dienstes.`,
  }),
  TEST: ({ productName }) => ({
    subject: `Eine Testnachricht von ${productName}`,
    before: `Dies ist ein Test. Nachrichten von ${productName} erreichen Sie.`,
    action: 'Öffnen',
    after: 'Ein Administrator hat sie geschickt. Sie müssen nichts tun.',
    short: `${productName}: Dies ist ein Test. Nachrichten erreichen Sie.`,
  }),
};
