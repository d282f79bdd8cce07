import type { Language } from '../../languages.ts';
import { de as factorDe, en as factorEn } from './factors/texts.ts';

const en = {
  signIn: 'Sign in',
  signInTo: (application: string) => `Sign in to ${application}`,
  toContinueTo: (application: string) => `to continue to ${application}`,
  continue: 'Continue',
  cancel: 'Cancel',
  or: 'or',
  password: 'Password',
  newPassword: 'New password',
  code: 'Code',
  email: 'E-mail address',
  phone: 'Phone number',
  phoneHint: 'With the country code, such as +49 151 23456789.',
  username: 'User name',
  usernameHint: 'Letters, digits and underscores. It begins with a letter.',
  optional: 'optional',
  identifier: { USERNAME: 'user name', EMAIL: 'e-mail address', PHONE: 'phone number' },
  forgotPassword: 'Forgot password?',
  createAccount: 'Create account',
  noAccount: 'New here?',
  haveAccount: 'Already have an account?',
  useCode: 'Use a code instead',
  usePassword: 'Use your password instead',
  usePhone: 'Use your phone number instead',
  useEmail: 'Use your e-mail address instead',
  invalidEmail: 'This is no e-mail address.',
  invalidPhone: 'This is no phone number with its country code.',
  notNow: 'Not now',
  sendCode: 'Send code',
  sendAnother: 'Send a new code',
  signInByCode: 'Sign in with a code',
  signInByCodeLead: 'A code goes to your address. It takes the place of the password, this once.',
  resetPassword: 'Reset your password',
  resetPasswordLead: 'A code goes to the address of your account. With it, choose a new password.',
  registerLead: 'A code goes there, to show that the address is yours.',
  enterCode: 'Enter the code',
  codeSent: (recipient: string) =>
    `If ${recipient} can be used here, a message with a six-digit code is on its way.`,
  codeMinutes: (minutes: number) =>
    ({ 0: 'The code is not good any more.', 1: 'The code is good for a minute.' })[minutes] ??
    `The code is good for ${minutes} minutes.`,
  notArrived: 'Nothing has come?',
  otherAddress: 'Use another address',
  chooseNewPassword: 'Choose a new password',
  choosePassword: 'Choose a password',
  passwordHint: (minLength: number) =>
    `${minLength} characters or more. A sentence of several words is easy to remember and hard to guess.`,
  savePassword: 'Save password',
  verified: (address: string) => `${address} is yours.`,
  agree: 'By creating an account you agree to the terms and the privacy notice.',
  linkTitle: 'Almost there',
  linkLead: 'The link in your message brought you here. One click, and you go on.',
  linkEmailHint: 'The one that the message came to.',
  anotherWay: 'Sign in another way',
  linkElsewhere: 'Enter the code where you began',
  linkElsewhereLead:
    'You asked for this message in another browser, or that sign-in is over. Go back to where you began, and enter this code there:',
  linkElsewhereWarning: 'Only there: never tell it to anybody who asks you for it.',
  signInByPasskey: 'Sign in with a passkey',
  signInByPasskeyLead: 'Your device asks for your fingerprint, your face or its PIN.',
  usePasskey: 'Use a passkey',
  usePasskeyLead: 'Show that it is you with one of your passkeys.',
  createPasskey: 'Create a passkey',
  createPasskeyLead:
    'With it you sign in by your fingerprint, your face or the PIN of your device. Nobody can guess it or trick you out of it.',
  passkeyName: 'Name of the passkey',
  passkeyNameHint: 'To tell it from others, such as “Work laptop”.',
  passkeysUnavailable: 'This browser cannot use passkeys here, or its scripts are off.',
  passkeyCancelled: 'No passkey was used. Try again, or go on another way.',
  passkeyNotMade: 'No passkey was made. Try again, or go on without one.',
  passkeyKnown: 'This device has a passkey for your account already.',
  allow: 'Allow',
  deny: 'Deny',
  allowTitle: (application: string) => `Allow ${application}?`,
  allowLead: (application: string) => `${application} asks for access to your account.`,
  allowManaging: (application: string) =>
    `This lets ${application} act as you in the administration of this service. Allow it only if you know who runs it.`,
  allowReturn: (destination: string) => `You then go to ${destination}.`,
  allowLater: 'You can take your consent back at any time.',
  aboutYou: 'About you',
  signedInAs: 'Signed in as',
  otherAccount: 'Use another account',
  scope: {
    openid: 'Know who you are',
    profile: 'Your name, picture and profile',
    email: 'Your e-mail address',
    phone: 'Your phone number',
    offline_access: 'Keep this access while you are away',
  } as Readonly<Record<string, string>>,
  problem: {
    ASKED_ANEW: 'What is asked for has changed. Look at it again; nothing was allowed.',
    PASSKEY: 'That passkey cannot be used here. Try another, or go on another way.',
    CREDENTIALS: 'That does not match an account that can be used. Check it and try again.',
    CODE: 'That code is not right, or no longer good. Check it, or have a new one sent.',
    FACTOR:
      'That code is not right, or was used already. Wait until the app shows another, and try again.',
    LINK: 'This link is not good any more. Sign in another way, or have a new one sent.',
    LOCKED: (minutes: number) =>
      `Too many tries did not succeed. Try again ${minutes <= 1 ? 'in a minute' : `in ${minutes} minutes`}.`,
    WAIT: (seconds: number) =>
      seconds >= 90
        ? `That was too often in a short time. Try again in ${Math.ceil(seconds / 60)} minutes.`
        : `That was too often in a short time. Try again in ${seconds} seconds.`,
    BUSY: 'Many people sign in right now. Try again in a few seconds.',
    FORM_EXPIRED: 'This form was open for too long. Nothing was sent; try again.',
    CHECK: 'Check what is marked below.',
    TAKEN: 'This one is taken. Choose another.',
    SIGN_UP_CLOSED: 'New accounts are not to be had here.',
    NOT_OFFERED: 'This way is not offered here.',
  },
  rejected: {
    TOO_SHORT: (minLength: number) => `It needs ${minLength} characters or more.`,
    TOO_LONG: 'It can have 256 characters at most.',
    COMMON: 'It is on the list of passwords that are guessed first.',
    USER_DATA: 'It is made of your name or address, or of the name of this service.',
    BLOCKLISTED: 'It is made of a word that is not taken here.',
    INVALID_CHARACTER: 'It holds a character that cannot be stored.',
  } as Readonly<Record<string, string | ((minLength: number) => string)>>,
  continueWith: (provider: string) => `Continue with ${provider}`,
  completeProfile: 'Complete your profile',
  addressFirst: 'Next',
  confirmLead: (provider: string, person: string | null) =>
    person === null ? `You come from ${provider}.` : `You come from ${provider} as ${person}.`,
  confirmWarning: (application: string) =>
    `Continue only if you began this yourself, just now, in ${application}. If somebody sent you a link, cancel: they would be signed in as you.`,
  returned: {
    done: 'You can go back now',
    doneLead: (application: string) => `Go back to ${application}. This window can be closed.`,
    linked: (provider: string) => `${provider} is linked to your account`,
    linkedLead: 'From now on you can sign in with it.',
    notLinked: 'Nothing was linked',
    over: 'This was answered before',
    overLead: 'Or it took too long. Your account shows what is linked to it.',
    signInFirst: 'In this browser you are not signed in to the account that this is for.',
    toAccount: 'Back to your account',
  },
  federation: {
    access_denied: () =>
      'The sign-in there was cancelled or refused. Try again, or sign in another way.',
    federation_expired: () => 'That took too long, or was answered before. Try again.',
    federation_failed: () =>
      'The other side could not sign you in. Try again, or sign in another way.',
    account_exists: (address: string | null) =>
      `There is an account with ${address ?? 'this address'} already. Sign in to it, and both are linked.`,
    account_unavailable: () => 'This account cannot be used.',
    sign_up_closed: () => 'There is no account for you here, and new ones are not to be had.',
    identity_taken: () => 'It belongs to another account here.',
  } as Readonly<Record<string, (address: string | null) => string>>,
  factor: factorEn,
  error: 'Error',
  failedTitle: 'Something went wrong',
  failed: 'It is not your doing. Nothing was lost; try again in a moment.',
  refused: 'What was sent cannot be taken. Nothing was changed.',
  sentAgain: 'A new message is on its way.',
  brokenTitle: 'This sign-in cannot go on',
  broken: 'It took too long, was finished already, or was begun in another browser.',
  brokenNowhere: 'Go back to the application and sign in again.',
  beginAgain: 'Begin again',
  yourAccount: 'Go to your account',
  waitTitle: 'A moment, please',
  tryAgain: 'Try again',
};

/** The texts of the pages. */
export type Texts = typeof en;

const de: Texts = {
  signIn: 'Anmelden',
  signInTo: (application) => `Bei ${application} anmelden`,
  toContinueTo: (application) => `weiter zu ${application}`,
  continue: 'Weiter',
  cancel: 'Abbrechen',
  or: 'oder',
  password: 'Passwort',
  newPassword: 'Neues Passwort',
  code: 'Code',
  email: 'E-Mail-Adresse',
  phone: 'Telefonnummer',
  phoneHint: 'Mit Ländervorwahl, etwa +49 151 23456789.',
  username: 'Benutzername',
  usernameHint: 'Buchstaben, Ziffern und Unterstriche; beginnt mit einem Buchstaben.',
  optional: 'freiwillig',
  identifier: { USERNAME: 'Benutzername', EMAIL: 'E-Mail-Adresse', PHONE: 'Telefonnummer' },
  forgotPassword: 'Passwort vergessen?',
  createAccount: 'Konto anlegen',
  noAccount: 'Neu hier?',
  haveAccount: 'Haben Sie schon ein Konto?',
  useCode: 'Stattdessen mit einem Code',
  usePassword: 'Stattdessen mit dem Passwort',
  usePhone: 'Stattdessen mit der Telefonnummer',
  useEmail: 'Stattdessen mit der E-Mail-Adresse',
  invalidEmail: 'Das ist keine E-Mail-Adresse.',
  invalidPhone: 'Das ist keine Telefonnummer mit Ländervorwahl.',
  notNow: 'Nicht jetzt',
  sendCode: 'Code senden',
  sendAnother: 'Neuen Code senden',
  signInByCode: 'Mit einem Code anmelden',
  signInByCodeLead:
    'Ein Code geht an Ihre Adresse. Er tritt dieses eine Mal an die Stelle des Passworts.',
  resetPassword: 'Passwort zurücksetzen',
  resetPasswordLead:
    'Ein Code geht an die Adresse Ihres Kontos. Mit ihm wählen Sie ein neues Passwort.',
  registerLead: 'Dorthin geht ein Code, der zeigt, dass die Adresse Ihre ist.',
  enterCode: 'Code eingeben',
  codeSent: (recipient) =>
    `Wenn ${recipient} hier verwendet werden kann, ist eine Nachricht mit einem sechsstelligen Code unterwegs.`,
  codeMinutes: (minutes) =>
    ({ 0: 'Der Code gilt nicht mehr.', 1: 'Der Code gilt eine Minute.' })[minutes] ??
    `Der Code gilt ${minutes} Minuten.`,
  notArrived: 'Nichts angekommen?',
  otherAddress: 'Andere Adresse verwenden',
  chooseNewPassword: 'Neues Passwort wählen',
  choosePassword: 'Passwort wählen',
  passwordHint: (minLength) =>
    `Mindestens ${minLength} Zeichen. Ein Satz aus mehreren Wörtern ist leicht zu merken und schwer zu erraten.`,
  savePassword: 'Passwort speichern',
  verified: (address) => `${address} ist Ihre Adresse.`,
  agree: 'Mit dem Anlegen des Kontos stimmen Sie den Nutzungsbedingungen und dem Datenschutz zu.',
  linkTitle: 'Fast geschafft',
  linkLead: 'Der Link aus Ihrer Nachricht hat Sie hierher gebracht. Ein Klick, und es geht weiter.',
  linkEmailHint: 'Die Adresse, an die die Nachricht ging.',
  anotherWay: 'Anders anmelden',
  linkElsewhere: 'Code dort eingeben, wo Sie begonnen haben',
  linkElsewhereLead:
    'Sie haben diese Nachricht in einem anderen Browser angefordert, oder die Anmeldung ist vorbei. Gehen Sie dorthin zurück, wo Sie begonnen haben, und geben Sie dort diesen Code ein:',
  linkElsewhereWarning: 'Nur dort: Sagen Sie ihn niemandem, der Sie danach fragt.',
  signInByPasskey: 'Mit einem Passkey anmelden',
  signInByPasskeyLead: 'Ihr Gerät fragt nach Fingerabdruck, Gesicht oder PIN.',
  usePasskey: 'Passkey verwenden',
  usePasskeyLead: 'Zeigen Sie mit einem Ihrer Passkeys, dass Sie es sind.',
  createPasskey: 'Passkey anlegen',
  createPasskeyLead:
    'Damit melden Sie sich mit Fingerabdruck, Gesicht oder der PIN Ihres Geräts an. Niemand kann ihn erraten oder Ihnen entlocken.',
  passkeyName: 'Name des Passkeys',
  passkeyNameHint: 'Um ihn von anderen zu unterscheiden, etwa „Laptop im Büro“.',
  passkeysUnavailable:
    'Dieser Browser kann hier keine Passkeys verwenden, oder seine Skripte sind abgeschaltet.',
  passkeyCancelled:
    'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal oder gehen Sie einen anderen Weg.',
  passkeyNotMade:
    'Es wurde kein Passkey angelegt. Versuchen Sie es noch einmal oder gehen Sie ohne ihn weiter.',
  passkeyKnown: 'Auf diesem Gerät gibt es schon einen Passkey für Ihr Konto.',
  allow: 'Erlauben',
  deny: 'Ablehnen',
  allowTitle: (application) => `${application} Zugriff erlauben?`,
  allowLead: (application) => `${application} bittet um Zugriff auf Ihr Konto.`,
  allowManaging: (application) =>
    `Damit kann ${application} in der Verwaltung dieses Dienstes an Ihrer Stelle handeln. Erlauben Sie es nur, wenn Sie wissen, wer dahintersteht.`,
  allowReturn: (destination) => `Danach geht es weiter zu ${destination}.`,
  allowLater: 'Sie können Ihre Zustimmung jederzeit zurücknehmen.',
  aboutYou: 'Über Sie',
  signedInAs: 'Angemeldet als',
  otherAccount: 'Anderes Konto verwenden',
  scope: {
    openid: 'Wissen, wer Sie sind',
    profile: 'Ihr Name, Bild und Profil',
    email: 'Ihre E-Mail-Adresse',
    phone: 'Ihre Telefonnummer',
    offline_access: 'Diesen Zugriff behalten, wenn Sie nicht da sind',
  },
  problem: {
    ASKED_ANEW:
      'Die Anfrage hat sich geändert. Sehen Sie sie noch einmal an; nichts wurde erlaubt.',
    PASSKEY:
      'Dieser Passkey kann hier nicht verwendet werden. Versuchen Sie einen anderen oder gehen Sie einen anderen Weg.',
    CREDENTIALS:
      'Das passt zu keinem Konto, das verwendet werden kann. Prüfen Sie es und versuchen Sie es noch einmal.',
    CODE: 'Der Code stimmt nicht oder gilt nicht mehr. Prüfen Sie ihn, oder lassen Sie einen neuen senden.',
    FACTOR:
      'Der Code stimmt nicht oder wurde schon verwendet. Warten Sie, bis die App einen anderen zeigt, und versuchen Sie es noch einmal.',
    LINK: 'Dieser Link gilt nicht mehr. Melden Sie sich anders an, oder lassen Sie einen neuen senden.',
    LOCKED: (minutes) =>
      `Zu viele Versuche sind misslungen. Versuchen Sie es ${minutes <= 1 ? 'in einer Minute' : `in ${minutes} Minuten`} noch einmal.`,
    WAIT: (seconds) =>
      seconds >= 90
        ? `Das war zu oft in kurzer Zeit. Versuchen Sie es in ${Math.ceil(seconds / 60)} Minuten noch einmal.`
        : `Das war zu oft in kurzer Zeit. Versuchen Sie es in ${seconds} Sekunden noch einmal.`,
    BUSY: 'Gerade melden sich viele an. Versuchen Sie es in einigen Sekunden noch einmal.',
    FORM_EXPIRED:
      'Dieses Formular war zu lange offen. Nichts wurde gesendet; versuchen Sie es noch einmal.',
    CHECK: 'Prüfen Sie, was unten markiert ist.',
    TAKEN: 'Das ist vergeben. Wählen Sie etwas anderes.',
    SIGN_UP_CLOSED: 'Neue Konten gibt es hier nicht.',
    NOT_OFFERED: 'Dieser Weg steht hier nicht offen.',
  },
  rejected: {
    TOO_SHORT: (minLength: number) => `Es braucht mindestens ${minLength} Zeichen.`,
    TOO_LONG: 'Es kann höchstens 256 Zeichen haben.',
    COMMON: 'Es steht auf der Liste der Passwörter, die zuerst geraten werden.',
    USER_DATA: 'Es ist aus Ihrem Namen, Ihrer Adresse oder dem Namen dieses Dienstes gemacht.',
    BLOCKLISTED: 'Es ist aus einem Wort gemacht, das hier nicht geht.',
    INVALID_CHARACTER: 'Es enthält ein Zeichen, das nicht gespeichert werden kann.',
  },
  continueWith: (provider) => `Weiter mit ${provider}`,
  completeProfile: 'Profil vervollständigen',
  addressFirst: 'Weiter',
  confirmLead: (provider, person) =>
    person === null ? `Sie kommen von ${provider}.` : `Sie kommen von ${provider} als ${person}.`,
  confirmWarning: (application) =>
    `Fahren Sie nur fort, wenn Sie das gerade selbst in ${application} begonnen haben. Hat Ihnen jemand einen Link geschickt, brechen Sie ab: Er wäre sonst als Sie angemeldet.`,
  returned: {
    done: 'Sie können jetzt zurückgehen',
    doneLead: (application) =>
      `Gehen Sie zurück zu ${application}. Dieses Fenster können Sie schließen.`,
    linked: (provider) => `${provider} ist mit Ihrem Konto verknüpft`,
    linkedLead: 'Ab jetzt können Sie sich damit anmelden.',
    notLinked: 'Nichts wurde verknüpft',
    over: 'Das wurde schon beantwortet',
    overLead: 'Oder es hat zu lange gedauert. Ihr Konto zeigt, was damit verknüpft ist.',
    signInFirst: 'In diesem Browser sind Sie nicht mit dem Konto angemeldet, um das es geht.',
    toAccount: 'Zurück zu Ihrem Konto',
  },
  federation: {
    access_denied: () =>
      'Die Anmeldung dort wurde abgebrochen oder abgelehnt. Versuchen Sie es noch einmal, oder melden Sie sich anders an.',
    federation_expired: () =>
      'Das hat zu lange gedauert oder wurde schon beantwortet. Versuchen Sie es noch einmal.',
    federation_failed: () =>
      'Die andere Seite konnte Sie nicht anmelden. Versuchen Sie es noch einmal, oder melden Sie sich anders an.',
    account_exists: (address) =>
      `Ein Konto mit ${address ?? 'dieser Adresse'} gibt es schon. Melden Sie sich dort an, und beide werden verknüpft.`,
    account_unavailable: () => 'Dieses Konto kann nicht verwendet werden.',
    sign_up_closed: () => 'Für Sie gibt es hier kein Konto, und neue gibt es nicht.',
    identity_taken: () => 'Es gehört hier zu einem anderen Konto.',
  },
  factor: factorDe,
  error: 'Fehler',
  failedTitle: 'Etwas ist schiefgegangen',
  failed: 'Es liegt nicht an Ihnen. Nichts ging verloren; versuchen Sie es gleich noch einmal.',
  refused: 'Was gesendet wurde, kann nicht angenommen werden. Nichts wurde geändert.',
  sentAgain: 'Eine neue Nachricht ist unterwegs.',
  brokenTitle: 'Diese Anmeldung geht nicht weiter',
  broken:
    'Sie hat zu lange gedauert, ist schon abgeschlossen oder wurde in einem anderen Browser begonnen.',
  brokenNowhere: 'Gehen Sie zurück zur Anwendung und melden Sie sich noch einmal an.',
  beginAgain: 'Von vorn beginnen',
  yourAccount: 'Zu Ihrem Konto',
  waitTitle: 'Einen Moment, bitte',
  tryAgain: 'Noch einmal versuchen',
};

/** The texts of the pages, by language. */
export const texts: Readonly<Record<Language, Texts>> = { en, de };
