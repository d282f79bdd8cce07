import { withShared } from '../web/texts.ts';

const oneOf = (language: string, names: readonly string[]): string =>
  new Intl.ListFormat(language, { type: 'disjunction' }).format(names);

const en = {
  signInTo: (application: string) => `Sign in to ${application}`,
  toContinueTo: (application: string) => `to continue to ${application}`,
  cancel: 'Cancel',
  or: 'or',
  identifier: { USERNAME: 'user name', EMAIL: 'e-mail address', PHONE: 'phone number' },
  forgotPassword: 'Forgot password?',
  createAccount: 'Create account',
  change: 'Change',
  noAccount: 'New here?',
  haveAccount: 'Already have an account?',
  useCode: 'Use a code instead',
  usePassword: 'Use your password instead',
  usePhone: 'Use your phone number instead',
  useEmail: 'Use your e-mail address instead',
  notNow: 'Not now',
  signInByCode: 'Sign in with a code',
  signInByCodeLead: 'We send a code to your address. Use it once, instead of your password.',
  resetPassword: 'Reset your password',
  resetPasswordLead:
    'We send a code to the address of your account. Enter it, then choose a new password.',
  registerLead: 'We send a code there to check that the address is yours.',
  codeMinutes: (minutes: number) =>
    ({ 0: 'The code has expired.', 1: 'The code is valid for one minute.' })[minutes] ??
    `The code is valid for ${minutes} minutes.`,
  verified: (address: string) => `${address} is verified.`,
  agree: 'By creating an account you agree to the terms and the privacy notice.',
  linkTitle: 'Almost there',
  linkLead: 'You opened the link in your message. Click once more to continue.',
  linkEmailHint: 'The one that the message came to.',
  anotherWay: 'Sign in another way',
  linkElsewhere: 'Enter the code where you began',
  linkElsewhereLead:
    'You asked for this message in another browser, or that sign-in is over. Go back to where you began, and enter this code there:',
  linkElsewhereWarning: 'Enter it only there. Never give it to anyone who asks you for it.',
  signInByPasskey: 'Sign in with a passkey',
  signInByPasskeyLead: 'Your device asks for your fingerprint, your face or its PIN.',
  usePasskeyLead: 'Use one of your passkeys to confirm it’s you.',
  allow: 'Allow',
  deny: 'Deny',
  allowTitle: (application: string) => `Allow ${application}?`,
  allowLead: (application: string) => `${application} asks for access to your account.`,
  allowManaging: (application: string) =>
    `This lets ${application} act as you in the administration of this service. Allow it only if you know who runs it.`,
  allowExchange: (application: string, services: readonly string[]) =>
    `With this access, ${application} can also have ${oneOf('en', services)} act for you in other services, with all that you may do there.`,
  allowHost: (host: string) =>
    `It comes from ${host} and calls itself by this name. Nobody here has checked it.`,
  allowUnchecked: 'It has registered itself by this name. Nobody here has checked it.',
  allowReturn: (destination: string) => `You then go to ${destination}.`,
  allowDevice: 'Your device then gets this access.',
  allowLater: 'You can take your consent back at any time.',
  aboutYou: 'About you',
  signedInAs: 'Signed in as',
  otherAccount: 'Use another account',
  completeProfile: 'Complete your profile',
  otherWays: 'Other ways',
  usedLast: 'Used last in this browser',
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
    over: 'This was already answered',
    overLead: 'Or it took too long. Your account shows what is linked to it.',
    signInFirst: 'In this browser you are not signed in to the account that this is for.',
    toAccount: 'Back to your account',
  },
  federation: {
    access_denied: () =>
      'The sign-in there was cancelled or refused. Try again, or sign in another way.',
    federation_expired: () => 'That took too long, or was already answered. Try again.',
    federation_failed: () =>
      'The other service could not sign you in. Try again, or sign in another way.',
    account_exists: (address: string | null) =>
      `An account with ${address ?? 'this address'} already exists. Sign in to it to link the two.`,
    address_reassigned: (address) =>
      `${address ?? 'This address'} belongs to an account that somebody else at the other service is linked to. Nothing was linked. If the account is yours, sign in to it another way; otherwise ask who runs this service.`,
    account_unavailable: () => 'This account cannot be used.',
    sign_up_closed: () => 'You have no account here, and new accounts cannot be created.',
    identity_taken: () => 'It belongs to another account here.',
  } as Readonly<Record<string, (address: string | null) => string>>,
  sentAgain: 'A new message is on its way.',
  brokenTitle: 'This sign-in cannot continue',
  broken: 'It took too long, was finished already, or was begun in another browser.',
  brokenNowhere: 'Go back to the application and sign in again.',
  beginAgain: 'Begin again',
  review: {
    heading: 'Check your account',
    lead: 'Your new password is set. Someone else may have changed your account before. Is all of this yours?',
    identities: 'Linked accounts',
    factors: 'Second factors',
    tokens: 'Personal access tokens',
    added: (date: string) => `Added ${date}`,
    remove: 'Is something not yours? Remove it in your account, where you sign in once more.',
    account: 'Open your account (in a new tab)',
  },
  wrong: {
    ASKED_ANEW: 'The request has changed. Review it again. Nothing was allowed yet.',
    CREDENTIALS: (identifiers: string) => `Wrong ${identifiers} or password. Try again.`,
    CODE: 'That code is wrong or has expired. Check it, or request a new one.',
    FACTOR:
      'That code is wrong or was already used. Wait until the app shows a new one, and try again.',
    LINK: 'This link is no longer valid. Sign in another way, or request a new one.',
  },
  factor: {
    useOtherAccount: 'Use another account',
    choose: 'Protect your account',
    chooseLead:
      'With a second factor, nobody signs in to your account with a stolen password alone. What do you want to use?',
    otherFactor: 'Choose another factor',
    codesSaved: 'I have saved them',
  },
};

const de: typeof en = {
  signInTo: (application) => `Bei ${application} anmelden`,
  toContinueTo: (application) => `weiter zu ${application}`,
  cancel: 'Abbrechen',
  or: 'oder',
  identifier: { USERNAME: 'Benutzername', EMAIL: 'E-Mail-Adresse', PHONE: 'Telefonnummer' },
  forgotPassword: 'Passwort vergessen?',
  createAccount: 'Konto anlegen',
  change: 'Ändern',
  noAccount: 'Neu hier?',
  haveAccount: 'Haben Sie schon ein Konto?',
  useCode: 'Stattdessen mit einem Code',
  usePassword: 'Stattdessen mit dem Passwort',
  usePhone: 'Stattdessen mit der Telefonnummer',
  useEmail: 'Stattdessen mit der E-Mail-Adresse',
  notNow: 'Nicht jetzt',
  signInByCode: 'Mit einem Code anmelden',
  signInByCodeLead:
    'Wir senden einen Code an Ihre Adresse. Er ersetzt dieses eine Mal das Passwort.',
  resetPassword: 'Passwort zurücksetzen',
  resetPasswordLead:
    'Wir senden einen Code an die Adresse Ihres Kontos. Geben Sie ihn ein, und wählen Sie dann ein neues Passwort.',
  registerLead: 'Wir senden dorthin einen Code, um zu prüfen, ob die Adresse Ihnen gehört.',
  codeMinutes: (minutes) =>
    ({ 0: 'Der Code gilt nicht mehr.', 1: 'Der Code gilt eine Minute.' })[minutes] ??
    `Der Code gilt ${minutes} Minuten.`,
  verified: (address) => `${address} ist bestätigt.`,
  agree: 'Mit dem Anlegen des Kontos stimmen Sie den Nutzungsbedingungen und dem Datenschutz zu.',
  linkTitle: 'Fast geschafft',
  linkLead:
    'Sie haben den Link aus Ihrer Nachricht geöffnet. Klicken Sie noch einmal, um fortzufahren.',
  linkEmailHint: 'Die Adresse, an die die Nachricht ging.',
  anotherWay: 'Anders anmelden',
  linkElsewhere: 'Code dort eingeben, wo Sie begonnen haben',
  linkElsewhereLead:
    'Sie haben diese Nachricht in einem anderen Browser angefordert, oder die Anmeldung ist vorbei. Gehen Sie dorthin zurück, wo Sie begonnen haben, und geben Sie dort diesen Code ein:',
  linkElsewhereWarning:
    'Geben Sie ihn nur dort ein. Sagen Sie ihn niemandem, der Sie danach fragt.',
  signInByPasskey: 'Mit einem Passkey anmelden',
  signInByPasskeyLead: 'Ihr Gerät fragt nach Fingerabdruck, Gesicht oder PIN.',
  usePasskeyLead: 'Bestätigen Sie mit einem Ihrer Passkeys, dass Sie es sind.',
  allow: 'Erlauben',
  deny: 'Ablehnen',
  allowTitle: (application) => `${application} Zugriff erlauben?`,
  allowLead: (application) => `${application} bittet um Zugriff auf Ihr Konto.`,
  allowManaging: (application) =>
    `Damit kann ${application} in der Verwaltung dieses Dienstes an Ihrer Stelle handeln. Erlauben Sie es nur, wenn Sie wissen, wer dahintersteht.`,
  allowExchange: (application, services) =>
    `Mit diesem Zugriff kann ${application} auch ${oneOf('de', services)} für Sie handeln lassen, in anderen Diensten und mit allem, was Sie dort dürfen.`,
  allowHost: (host) =>
    `Sie kommt von ${host} und nennt sich selbst so. Niemand hier hat sie geprüft.`,
  allowUnchecked:
    'Sie hat sich selbst unter diesem Namen angemeldet. Niemand hier hat sie geprüft.',
  allowReturn: (destination) => `Danach geht es weiter zu ${destination}.`,
  allowDevice: 'Danach hat Ihr Gerät diesen Zugriff.',
  allowLater: 'Sie können Ihre Zustimmung jederzeit zurücknehmen.',
  aboutYou: 'Über Sie',
  signedInAs: 'Angemeldet als',
  otherAccount: 'Anderes Konto verwenden',
  completeProfile: 'Profil vervollständigen',
  otherWays: 'Andere Möglichkeiten',
  usedLast: 'In diesem Browser zuletzt verwendet',
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
      'Der andere Dienst konnte Sie nicht anmelden. Versuchen Sie es noch einmal, oder melden Sie sich anders an.',
    account_exists: (address) =>
      `Ein Konto mit ${address ?? 'dieser Adresse'} gibt es schon. Melden Sie sich dort an, und beide werden verknüpft.`,
    address_reassigned: (address) =>
      `${address ?? 'Diese Adresse'} gehört zu einem Konto, mit dem dort jemand anderes verknüpft ist. Nichts wurde verknüpft. Wenn es Ihr Konto ist, melden Sie sich auf einem anderen Weg an; sonst fragen Sie, wer diesen Dienst betreibt.`,
    account_unavailable: () => 'Dieses Konto kann nicht verwendet werden.',
    sign_up_closed: () =>
      'Sie haben hier kein Konto, und neue Konten können nicht angelegt werden.',
    identity_taken: () => 'Es gehört hier zu einem anderen Konto.',
  },
  sentAgain: 'Eine neue Nachricht ist unterwegs.',
  brokenTitle: 'Diese Anmeldung kann nicht fortgesetzt werden',
  broken:
    'Sie hat zu lange gedauert, ist schon abgeschlossen oder wurde in einem anderen Browser begonnen.',
  brokenNowhere: 'Gehen Sie zurück zur Anwendung und melden Sie sich noch einmal an.',
  beginAgain: 'Von vorn beginnen',
  review: {
    heading: 'Konto prüfen',
    lead: 'Ihr neues Passwort gilt. Vielleicht hat vorher jemand anders Ihr Konto verändert. Gehört das alles Ihnen?',
    identities: 'Verknüpfte Konten',
    factors: 'Zweite Faktoren',
    tokens: 'Persönliche Zugriffstoken',
    added: (date) => `Hinzugefügt am ${date}`,
    remove:
      'Gehört Ihnen etwas davon nicht? Entfernen Sie es in Ihrem Konto. Dort melden Sie sich noch einmal an.',
    account: 'Konto öffnen (in neuem Tab)',
  },
  wrong: {
    ASKED_ANEW:
      'Die Anfrage hat sich geändert. Sehen Sie sie noch einmal an; nichts wurde erlaubt.',
    CREDENTIALS: (identifiers) =>
      `${identifiers} oder Passwort falsch. Versuchen Sie es noch einmal.`,
    CODE: 'Der Code ist falsch oder abgelaufen. Prüfen Sie ihn, oder fordern Sie einen neuen an.',
    FACTOR:
      'Der Code ist falsch oder wurde schon verwendet. Warten Sie, bis die App einen anderen zeigt, und versuchen Sie es noch einmal.',
    LINK: 'Dieser Link gilt nicht mehr. Melden Sie sich anders an, oder fordern Sie einen neuen an.',
  },
  factor: {
    useOtherAccount: 'Anderes Konto verwenden',
    choose: 'Konto schützen',
    chooseLead:
      'Mit einem zweiten Faktor meldet sich niemand allein mit einem gestohlenen Passwort bei Ihrem Konto an. Was möchten Sie verwenden?',
    otherFactor: 'Anderen Faktor wählen',
    codesSaved: 'Ich habe sie gesichert',
  },
};

/** The texts of the sign-in pages, by language. */
export const texts = withShared({ en, de });

/** The texts of the sign-in pages. */
export type Texts = (typeof texts)['en'];
