import { asPage, type Send, type StepResult, startHeadless, step } from '../people/experience.ts';
import { passThrough } from '../people/federation.ts';
import { type Browser, openBrowser, type Visit } from '../people/sign-in.ts';
import { authorize, password, redirectUri } from '../people/sign-in-fixture.ts';
import type { Outcome } from './deeds.ts';
import type { World } from './world.ts';

/** Makes two of something that is done in two places at once. */
export const twice = <T>(make: (turn: number) => T): readonly [T, T] => [make(0), make(1)];

const leadsOn = ({ body }: Visit): boolean => /<h1>[^<]+/.test(body) && body.includes('<button ');

/**
 * A page of the service; a node without its database counts as one that did not answer.
 *
 * @throws when the page leads nowhere.
 */
export function shown(world: Pick<World, 'url'>, visit: Visit): Visit {
  const { url, status, body } = visit;
  if (url.origin === world.url && !leadsOn(visit))
    throw new Error(`A dead end at ${url} (${status}): ${/<h1>[^<]*/.exec(body) ?? body}`);
  if ([429, 503].includes(status)) throw new Error(`A page answered ${status}.`);
  return visit;
}

/** Somebody who comes back from the provider: the way to confirm it, and to go on. */
async function arrive(
  world: World,
  subject: string,
  email: string,
): Promise<{ send: Send; confirm: () => Promise<Visit> }> {
  const { url, application, provider, providerId } = world;
  const { send } = await startHeadless({ url }, { clientId: application.id, redirectUri });
  const started = await step(send, 'startFederation', { identityProviderId: providerId });
  const there = provider.visitOf(started['url'], subject, { email, email_verified: true });
  const browser = openBrowser(url);
  const page = shown(world, await browser.open(await passThrough(there)));
  return { send, confirm: async () => shown(world, await browser.submit(page, {})) };
}

/** One person arrives from the provider in two places at once, and goes on in both. */
export async function arriveTwice(world: World, subject: string, email: string): Promise<Outcome> {
  const ways = await Promise.all(
    twice(() => world.deeds.sure(() => arrive(world, subject, email))),
  );
  await Promise.allSettled(ways.map(({ confirm }) => confirm()));
  const outcomes = await Promise.all(
    ways.map(({ send }) => world.deeds.attempt(() => step(send, 'submitInteraction'))),
  );
  return outcomes.includes('DONE') ? 'DONE' : 'UNKNOWN';
}

/** A stranger signs in by the provider for the first time, in two places at once. */
export async function registerTwice(world: World, subject: string): Promise<void> {
  const email = `${subject}@example.org`;
  // Until one of them has come through.
  while ((await arriveTwice(world, subject, email)) !== 'DONE');
}

/** A browser at the first page of an application, with the way to go through its API. */
export async function openPages(
  world: Pick<World, 'url'>,
  client: { readonly id: string },
  scope: string,
): Promise<{ browser: Browser; send: Send }> {
  const service = { app: { services: { baseUrl: world.url, issuer: `${world.url}/oidc` } } };
  const browser = openBrowser(world.url);
  const { url } = await authorize(service, client, { scope });
  shown(world, await browser.open(url));
  return { browser, send: asPage(service, browser) };
}

/** A browser in which a person is signed in. */
export async function openSignedIn(
  world: Pick<World, 'url' | 'application'>,
  identifier: string,
): Promise<Browser> {
  const { browser, send } = await openPages(world, world.application, 'openid');
  await step(send, 'signInWithPassword', { identifier, password });
  await step(send, 'skipEnrollment');
  const { redirectTo } = await step(send, 'submitInteraction');
  const visit = shown(world, await browser.open(redirectTo));
  if (!visit.url.href.startsWith(redirectUri))
    throw new Error(`The sign-in ended at ${visit.url} (${visit.status}): ${visit.body}`);
  return browser;
}

/** Somebody who links an identity, by the account API and a browser in which they are signed in. */
export interface Linking {
  readonly browser: Browser;
  readonly subject: string;
  /** Runs `startViewerFederation` until it is answered. */
  readonly begin: (input: object) => Promise<StepResult>;
}

/** Whether a page says that an identity is linked. */
export const isLinked = ({ body }: Visit): boolean =>
  body.includes('Club is linked to your account');

/**
 * Begins to link an identity, and goes to the provider.
 *
 * @returns The URL with which the provider sends the person back.
 */
export async function goAndReturn(
  { provider, providerId }: World,
  { subject, begin }: Pick<Linking, 'subject' | 'begin'>,
): Promise<string> {
  const { url, ...refused } = await begin({ identityProviderId: providerId });
  if (!url) throw new Error(`No way to the provider: ${JSON.stringify(refused)}`);
  return passThrough(provider.visitOf(url, subject, { email: 'elsewhere@example.org' }));
}

/** Links an identity: begins twice at once, and comes back from both and from one of them again. */
export async function linkTwice(world: World, linking: Linking): Promise<void> {
  for (;;) {
    const [one, two] = await Promise.all(twice(() => goAndReturn(world, linking)));
    const pages = await Promise.all(
      [one, two, one].map((callback) =>
        world.deeds.sure(async () => shown(world, await linking.browser.open(callback))),
      ),
    );
    // Else every answer that could have told of it was lost.
    if (pages.some(isLinked)) return;
  }
}
