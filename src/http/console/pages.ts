import { html } from '../../html/markup.ts';
import { type Content, goOn, type Look, page } from '../../html/page.ts';
import type { Language } from '../../languages.ts';

const en = {
  signIn: 'Sign in',
  signedOut: 'You are signed out',
  signedOutLead: 'The console and every application that you used in this browser.',
  failed: 'The sign-in did not work',
  failedLead: 'It took too long, or began in another browser. Nothing is lost: sign in again.',
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

const texts: Readonly<Record<Language, typeof en>> = {
  en,
  de: {
    signIn: 'Anmelden',
    signedOut: 'Sie sind abgemeldet',
    signedOutLead: 'Von der Konsole und jeder Anwendung, die Sie in diesem Browser benutzt haben.',
    failed: 'Die Anmeldung hat nicht geklappt',
    failedLead:
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
    notBuiltLead:
      'Der Dienst arbeitet auch ohne sie. Bauen Sie sie, wo der Dienst installiert ist:',
  },
};

/** Where a sign-in to the console begins. */
export const signInPath = '/console/sign-in';

const shown = (look: Look, contentIn: (t: typeof en) => Content): string =>
  page(contentIn(texts[look.language]), look);

/** Says that the person is signed out. */
export const signedOutPage = (look: Look, baseUrl: string): string =>
  shown(look, (t) => ({
    heading: t.signedOut,
    lead: t.signedOutLead,
    body: goOn(`${baseUrl}${signInPath}`, t.signIn),
  }));

/**
 * Says that a sign-in came to nothing.
 *
 * @param isCancelled Whether the person wanted it so.
 */
export const failedSignInPage = (look: Look, baseUrl: string, isCancelled: boolean): string =>
  shown(look, (t) => ({
    heading: isCancelled ? t.cancelled : t.failed,
    lead: isCancelled ? t.cancelledLead : t.failedLead,
    body: goOn(`${baseUrl}${signInPath}`, t.signIn),
  }));

/** Says that a link to the setup page cannot be used, and what to do. */
export const refusedSetupPage = (look: Look, baseUrl: string): string =>
  shown(look, (t) => ({
    heading: t.setup,
    lead: t.setupLead,
    body: html`<p>${t.setupSignIn}</p>
${goOn(`${baseUrl}${signInPath}`, t.signIn)}
<p>${t.setupAgain}</p>
<p>${t.setupLost}</p>
<p><code>npm run create-admin -- --username …</code></p>`,
  }));

/** Says how to build the console. */
export const notBuiltPage = (look: Look): string =>
  shown(look, (t) => ({
    heading: t.notBuilt,
    lead: t.notBuiltLead,
    body: html`<p><code>npm run build:console</code></p>`,
  }));
