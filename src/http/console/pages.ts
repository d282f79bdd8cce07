import type { Language } from '../../languages.ts';
import { type Html, html } from '../../markup.ts';
import { type Content, goOn } from '../../web/page.ts';
import { withShared } from '../../web/texts.ts';

const en = {
  signedOutLead: 'The console and every application that you used in this browser.',
  signInFailed: 'The sign-in did not work',
  signInFailedLead:
    'It took too long, or began in another browser. Nothing is lost: sign in again.',
  cancelled: 'The sign-in was cancelled',
  cancelledLead: 'You can sign in to the console again at any time.',
  setup: 'This link cannot be used',
  setupLead: 'It was used, has expired, or is not complete. A link works once, and for one hour.',
  setupSignIn: 'If there is an administrator, sign in.',
  setupAgain: 'If there is none yet, start the service again: it prints a new link.',
  setupLost:
    'If the administrator’s password is lost, run this where the service is installed; with the embedded database, stop the service first.',
  notBuilt: 'The console is not built',
  notBuiltLead: 'The service works without it. Build it where the service is installed:',
};

const de: typeof en = {
  signedOutLead: 'Von der Konsole und jeder Anwendung, die Sie in diesem Browser benutzt haben.',
  signInFailed: 'Die Anmeldung hat nicht geklappt',
  signInFailedLead:
    'Sie hat zu lange gedauert oder in einem anderen Browser begonnen. Nichts ging verloren: Melden Sie sich noch einmal an.',
  cancelled: 'Die Anmeldung wurde abgebrochen',
  cancelledLead: 'Sie können sich jederzeit wieder an der Konsole anmelden.',
  setup: 'Dieser Link ist nicht zu gebrauchen',
  setupLead:
    'Er wurde benutzt, ist abgelaufen oder unvollständig. Ein Link gilt einmal und eine Stunde lang.',
  setupSignIn: 'Wenn es eine Verwalterin oder einen Verwalter gibt, melden Sie sich an.',
  setupAgain:
    'Wenn es noch niemanden gibt, starten Sie den Dienst neu: Er schreibt einen neuen Link.',
  setupLost:
    'Wenn das Kennwort verloren ging, führen Sie dies dort aus, wo der Dienst installiert ist; mit der eingebetteten Datenbank halten Sie den Dienst vorher an.',
  notBuilt: 'Die Konsole ist nicht gebaut',
  notBuiltLead: 'Der Dienst arbeitet auch ohne sie. Bauen Sie sie, wo der Dienst installiert ist:',
};

const texts = withShared({ en, de });

const signInPath = '/console/sign-in';

/** A page in one language. */
export type ConsolePage = (language: Language, baseUrl: string) => Content;

const signInButton = (language: Language, baseUrl: string): Html =>
  goOn(`${baseUrl}${signInPath}`, texts[language].signIn);

/** Says that the person is signed out. */
export const signedOutPage: ConsolePage = (language, baseUrl) => {
  const { signedOut: heading, signedOutLead: lead } = texts[language];
  return { heading, lead, body: signInButton(language, baseUrl) };
};

/** Says that a sign-in did not succeed. */
export const failedSignInPage: ConsolePage = (language, baseUrl) => {
  const { signInFailed: heading, signInFailedLead: lead } = texts[language];
  return { heading, lead, body: signInButton(language, baseUrl) };
};

/** Says that the person cancelled the sign-in. */
export const cancelledSignInPage: ConsolePage = (language, baseUrl) => {
  const { cancelled: heading, cancelledLead: lead } = texts[language];
  return { heading, lead, body: signInButton(language, baseUrl) };
};

/** Says that a link to the set-up page cannot be used, and what to do. */
export const refusedSetupPage: ConsolePage = (language, baseUrl) => {
  const t = texts[language];
  return {
    heading: t.setup,
    lead: t.setupLead,
    body: html`<p>${t.setupSignIn}</p>
${signInButton(language, baseUrl)}
<p>${t.setupAgain}</p>
<p>${t.setupLost}</p>
<p><code>npx signet create-admin --username &hellip;</code></p>`,
  };
};

/** Says how to build the console. */
export const notBuiltPage: ConsolePage = (language) => {
  const { notBuilt: heading, notBuiltLead: lead } = texts[language];
  return { heading, lead, body: html`<p><code>npm run build:console</code></p>` };
};
