import * as oidc from 'openid-client';
import type { Browser } from 'playwright-core';
import type { TestService } from '../service.ts';
import { passThrough } from './federation.ts';
import { followLink, press, sendForm } from './pages/hand.ts';
import { decodeText, openBrowser, type Visit } from './sign-in.ts';
import { type Driver, type Outcome, type Person, redeemer } from './sign-in-drivers.ts';
import { authorize, redirectUri } from './sign-in-fixture.ts';

/** A browser at a page, and the actions of the person in front of it. */
export interface Pages {
  open(url: URL | string): Promise<void>;
  url(): URL;
  /** The page's markup. */
  markup(): Promise<string>;
  /** Follows the link that has this text. */
  follow(text: string): Promise<void>;
  /** Clicks the button that has this text. */
  press(text: string): Promise<void>;
  /** Fills in fields by name, and clicks the first submit button. */
  send(values?: Record<string, string>): Promise<void>;
}

/** A browser without scripts. */
function openPagesWithoutScripts({ app }: TestService): Pages {
  const browser = openBrowser(app.services.baseUrl);
  let visit: Visit;
  return {
    async open(url) {
      visit = await browser.open(url);
    },
    url: () => visit.url,
    markup: async () => visit.body,
    async follow(text) {
      const links = [...visit.body.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)];
      const link = links.find(([, , shown = '']) => decodeText(shown).trim() === text);
      if (!link?.[1]) throw new Error(`No link "${text}" at ${visit.url}: ${visit.body}`);
      visit = await browser.open(new URL(decodeText(link[1]), visit.url));
    },
    async press(text) {
      const form = [...visit.body.matchAll(/<form[^>]*>.*?<\/form>/gs)].find(([markup]) =>
        decodeText(markup).includes(`>${text}</button>`),
      );
      if (!form) throw new Error(`No button "${text}" at ${visit.url}: ${visit.body}`);
      visit = await browser.submit({ ...visit, body: form[0] }, {});
    },
    async send(values = {}) {
      for (const name of Object.keys(values))
        if (!visit.body.includes(` name="${name}"`))
          throw new Error(`No field "${name}" at ${visit.url}.`);
      if (!/<button[^>]* type="submit"/.test(visit.body))
        throw new Error(`No button at ${visit.url}.`);
      visit = await browser.submit(visit, values);
    },
  };
}

/** Chromium with its own cookies. */
export async function openPagesInChromium(chromium: Browser): Promise<Pages> {
  const context = await chromium.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  return {
    async open(url) {
      await page.goto(String(url));
    },
    url: () => new URL(page.url()),
    markup: () => page.content(),
    follow: (text) => followLink(page, text),
    press: (text) => press(page, 'button', text),
    send: (values) => sendForm(page, values),
  };
}

const outcomes: readonly [RegExp, string][] = [
  [/Too many failed attempts/, 'LOCKED'],
  [/Too many requests/, 'RATE_LIMITED'],
  [/or password. Try again|code is wrong|link is no longer valid/, 'VERIFICATION_FAILED'],
  [/Check what is marked/, 'INVALID_INPUT'],
];

const wayTo = {
  SIGN_IN: 'Use a code instead',
  REGISTER: 'Create account',
  RESET_PASSWORD: 'Forgot password?',
} as const;

/** Takes the steps through the pages. */
export function pagesDriver(
  name: string,
  openPages: (service: TestService) => Promise<Pages> | Pages,
  sentBackTo: () => string = () => redirectUri,
): Driver {
  return {
    name,
    async start(service, client): Promise<Person> {
      const pages = await openPages(service);
      let redeem: ReturnType<typeof redeemer>;
      const begin = async (parameters: Record<string, string> = {}) => {
        const state = oidc.randomState();
        const { url, verifier } = await authorize(service, client, {
          state,
          redirect_uri: sentBackTo(),
          ...parameters,
        });
        redeem = redeemer(service, client, { verifier, state });
        await pages.open(url);
      };
      await begin();
      const isBack = () => pages.url().origin === new URL(sentBackTo()).origin;
      const firstPage = () => pages.url().pathname.split('/').slice(0, 3).join('/');
      const toSignIn = () =>
        pages.open(new URL(`${firstPage()}?sign-in`, service.app.services.baseUrl));
      const has = async (field: string) => (await pages.markup()).includes(` name="${field}"`);
      async function outcome(): Promise<Outcome> {
        if (isBack()) return { code: 'OK' };
        const [, alert] = /role="alert"[^>]*>.*?<p>([^<]*)/s.exec(await pages.markup()) ?? [];
        if (alert === undefined) return { code: 'OK' };
        return { code: outcomes.find(([words]) => words.test(alert))?.[1] ?? alert };
      }
      async function send(values?: Record<string, string>) {
        await pages.send(values);
        return outcome();
      }
      return {
        async signInWithPassword(identifier, password) {
          if (!(await has('identifier'))) await toSignIn();
          return send({ identifier, password });
        },
        async sendCode(purpose, address) {
          await toSignIn();
          await pages.follow(wayTo[purpose]);
          if ('phone' in address && !(await has('phone')))
            await pages.follow('Use your phone number instead');
          return send({ ...address });
        },
        verifyCode: (code) => send({ code }),
        async redeemOneTimeToken(email, token) {
          await begin({ login_hint: email, one_time_token: token });
          return send();
        },
        async register(fields) {
          if (!(await has('username'))) {
            await toSignIn();
            await pages.follow('Create account');
            if (await has('email')) await pages.follow('Not now');
          }
          return send(fields);
        },
        resetPassword: (password) => send({ password }),
        async federate({ name }) {
          await pages.press(`Continue with ${name}`);
          // A browser that stays at the service is at the provider's door.
          if (pages.url().pathname === '/authorize')
            await pages.open(await passThrough(pages.url()));
          return outcome();
        },
        async enrollTotp() {
          const [, key] = /<code>([A-Z2-7 ]{39})</.exec(await pages.markup()) ?? [];
          if (key === undefined) throw new Error(`Nothing to scan at ${pages.url()}.`);
          return key.replaceAll(' ', '');
        },
        confirmTotp: (code) => send({ code }),
        verifyTotp: (code) => send({ code }),
        async submit() {
          if (!isBack()) throw new Error(`Not back at the application, but at ${pages.url()}.`);
          return redeem(pages.url());
        },
      };
    },
  };
}

/** Through the pages, by a browser without scripts. */
export const formsDriver: Driver = pagesDriver('forms without scripts', openPagesWithoutScripts);
