import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { TestService } from '../service.ts';
import { type Browser, openBrowser } from './sign-in.ts';

/** A console of one page, in place of the built one. */
export const consoleFolder = fileURLToPath(new URL('../../fixtures/console', import.meta.url));

/** The first administrator's name and password. */
export const administrator = { username: 'root', password: 'a long enough phrase' } as const;

/** What `GET /console/session` tells. */
interface SessionAnswer {
  readonly user: { readonly id: string; readonly username: string };
  readonly scopes: string[];
  readonly expiresAt: string;
}

/** A browser at the console. */
export interface ConsoleBrowser extends Browser {
  /** Sends a GraphQL document as a page of the console does. */
  ask(query: string, variables?: object): Promise<{ status: number; body: Answer }>;
  /** Who is signed in; undefined if nobody is. */
  session(): Promise<SessionAnswer | undefined>;
  /** The form behind the control `Sign out`. */
  signOut(): ReturnType<Browser['open']>;
}

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: { readonly message: string; readonly extensions: Record<string, unknown> }[];
}

/** Opens a browser at the console, with an empty cookie jar. */
export function openConsole(service: Pick<TestService, 'app'>): ConsoleBrowser {
  const { baseUrl } = service.app.services;
  const { origin } = new URL(baseUrl);
  const browser = openBrowser(baseUrl);
  return {
    ...browser,
    async ask(query, variables) {
      const response = await browser.request('/console/graphql', {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          origin,
          'x-signet-console': '1',
        },
        body: JSON.stringify({ query, variables }),
      });
      return { status: response.status, body: (await response.json()) as Answer };
    },
    async session() {
      const response = await browser.request('/console/session');
      const body = await response.json();
      return response.status === 200 ? (body as SessionAnswer) : undefined;
    },
    signOut: () => browser.open('/console/sign-out', { method: 'POST', headers: { origin } }),
  };
}

/** A socket of a page of the console, without a client library. */
export interface ConsoleSocket {
  /** Resolves with the messages once there are this many. */
  received(count: number): Promise<readonly Message[]>;
  send(message: object): void;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: { readonly data?: Record<string, unknown>; readonly errors?: unknown[] };
}

/** Opens a WebSocket at the console with these headers; it closes with the test. */
export function openSocket(
  url: string,
  headers: { readonly cookie?: string; readonly origin?: string },
): ConsoleSocket {
  const socket = new WebSocket(
    `${url.replace(/^http/, 'ws')}/console/graphql`,
    'graphql-transport-ws',
    { headers: { ...headers } },
  );
  const messages: Message[] = [];
  let look: () => void = () => undefined;
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  const opened = new Promise<void>((resolve) => socket.once('open', resolve));
  socket.on('message', (text) => {
    messages.push(JSON.parse(String(text)) as Message);
    look();
  });
  socket.on('close', (code, reason) => closed.resolve({ code, reason: String(reason) }));
  // A refused upgrade.
  socket.on('error', (error) => closed.resolve({ code: 0, reason: error.message }));
  onTestFinished(() => socket.terminate());
  return {
    closed: closed.promise,
    send: (message) => void opened.then(() => socket.send(JSON.stringify(message))),
    received: (count) =>
      new Promise((resolve) => {
        look = () => {
          if (messages.length >= count) resolve(messages);
        };
        look();
      }),
  };
}

/** The token of the link that the start printed. */
export function setupTokenOf({ setupLink }: Pick<TestService, 'setupLink'>): string {
  const token = setupLink && new URL(setupLink).searchParams.get('token');
  if (!token) throw new Error('The start offered no setup.');
  return token;
}

/** Makes the first administrator by the start's link, in a browser that is signed in then. */
export async function setUpConsole(service: TestService): Promise<ConsoleBrowser> {
  const browser = openConsole(service);
  const response = await sendSetup(browser, { token: setupTokenOf(service), ...administrator });
  if (response.status !== 201) throw new Error(`No administrator: ${await response.text()}`);
  return browser;
}

/** Sends the form of the setup page. */
export const sendSetup = (browser: Browser, values: object): Promise<Response> =>
  browser.request('/console/setup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(values),
  });

/** Signs a person in to the console by the service's own pages. */
export async function signInToConsole(
  browser: ConsoleBrowser,
  person: { readonly username: string; readonly password: string } = administrator,
  to?: string,
): ReturnType<Browser['open']> {
  const query = to === undefined ? '' : `?${new URLSearchParams({ to })}`;
  const page = await browser.open(`/console/sign-in${query}`);
  if (!page.url.pathname.startsWith('/sign-in/')) return page;
  return browser.submit(page, { identifier: person.username, password: person.password });
}
