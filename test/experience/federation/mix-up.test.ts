// A dishonest provider leads a person on to an honest one, whose answer then comes back with the state of the dishonest
// one (RFC 9700 §4.4).
import { afterEach, describe, expect, test } from 'vitest';
import { startViewerFederation } from '../../../src/experience/federation/viewer.ts';
import { beginFederation } from '../../../src/identity-providers/federation.ts';
import { newId } from '../../../src/ids.ts';
import { withoutRefusals } from '../../support/events.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { startHeadless, step } from '../../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
} from '../../support/people/federation.ts';
import { type Browser, openBrowser } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const { prisma } = database;
const { services } = service.app;
const shared = `${services.baseUrl}/sign-in/callback`;
const admin = await manager(service);
const pocket = await fixture.createApplication({ name: 'Pocket', allowHeadlessSignIn: true });
const lying = await startOpenIdProvider();
const honest = await startOpenIdProvider();
const ids = {
  lying: await connectSteered(service, lying, 'Lying'),
  honest: await connectSteered(service, honest, 'Honest'),
};
const without = { discovery: { authorization_response_iss_parameter_supported: false } };

afterEach(async () => {
  lying.behave({});
  honest.behave({});
  await setState('OWN');
  await prisma.identityProvider.updateMany({ data: { enabled: true } });
});

/** Makes both as they were set up by a version with one redirect URI, or by this one. */
const setState = (redirectUriState: 'OWN' | 'SHARED') =>
  prisma.identityProvider.updateMany({ data: { redirectUriState } });

let people = 0;
/** Every way to leave for a provider: the browser that comes back, and where it went. */
const flows: Record<string, (providerId: string) => Promise<{ browser: Browser; url: URL }>> = {
  async 'a sign-in'(providerId) {
    const { browser, visit } = await openSignInPage(service, client);
    const row = await prisma.identityProvider.findUniqueOrThrow({ where: { id: providerId } });
    return { browser, url: (await continueWith(browser, visit, row.name)).url };
  },
  async 'a headless sign-in'(identityProviderId) {
    const { send } = await startHeadless(service, { clientId: pocket.id, redirectUri });
    const { url } = await step(send, 'startFederation', { identityProviderId });
    return { browser: openBrowser(services.baseUrl), url: new URL(url) };
  },
  async linking(identityProviderId) {
    const { user, browser } = await signedIn();
    const { url } = await startViewerFederation(
      services,
      { userId: user.id, clientId: client.id },
      { identityProviderId },
    );
    return { browser, url: new URL(url) };
  },
  async 'a proof'(providerId) {
    const { user, browser } = await signedIn();
    await browser.open('/account');
    const row = await prisma.identityProvider.findUniqueOrThrow({ where: { id: providerId } });
    const owner = { userId: user.id, clientId: client.id };
    const url = await beginFederation(services, row, owner, { prefix: 'p' });
    return { browser, url: new URL(url) };
  },
};

async function signedIn() {
  people += 1;
  const username = `person${people}`;
  const user = await fixture.createUser({ username });
  const browser = openBrowser(services.baseUrl);
  await fixture.signIn({ username, password, browser });
  return { user, browser };
}

/** All that an answer could write. */
const written = async () => ({
  users: await prisma.user.count(),
  identities: await prisma.userIdentity.count(),
  newcomers: await prisma.newcomer.count(),
  proofs: await prisma.viewerProof.count(),
  events: await prisma.event.count({ where: withoutRefusals }),
  open: await prisma.federation.count(),
});

const exchanges = ({ asked }: OpenIdProvider) => asked.filter((path) => path === '/token').length;

/** The honest provider's answer to a request of the lying one, which keeps all but the client and the redirect URI. */
function mixUp(url: URL, registered: string): URL {
  const asked = new URL(url);
  asked.searchParams.set('redirect_uri', registered);
  return honest.signedIn(asked, 'victim');
}

describe.each(Object.entries(flows))('in %s, the answer of an honest provider', (_flow, begin) => {
  test.each([
    ['at its own redirect URI', 'OWN', false, 'OWN'],
    ['at its own one, with iss', 'OWN', true, 'OWN'],
    ['at the shared one', 'SHARED', false, 'OWN'],
    ['at the shared one, with iss', 'SHARED', true, 'OWN'],
    ['at the shared one of both', 'SHARED', false, 'SHARED'],
    ['at the shared one of both, with iss', 'SHARED', true, 'SHARED'],
  ] as const)('%s never reaches a lying one', async (_case, of, hasIss, lyingState) => {
    if (!hasIss) honest.behave(without);
    await prisma.identityProvider.update({
      where: { id: ids.lying },
      data: { redirectUriState: lyingState },
    });
    const { browser, url } = await begin(ids.lying);
    const registered = of === 'OWN' ? `${shared}/${ids.honest}` : shared;
    const before = { ...(await written()), exchanges: exchanges(lying) };
    await browser.open(mixUp(url, registered));
    const { open, ...rest } = { ...(await written()), exchanges: exchanges(lying) };
    expect(rest).toEqual({ ...before, open: undefined });
    // Only where it came to the redirect URI that the lying one has too, it is used up.
    expect(open).toBe(before.open - (of === lyingState && of === 'SHARED' ? 1 : 0));
  });
});

describe.each(Object.entries(flows))('in %s, an answer', (_flow, begin) => {
  test('at another path is refused and uses nothing up, then is taken at its own, once', async () => {
    const { browser, url } = await begin(ids.honest);
    const answer = honest.signedIn(url, `subject-${people}-${Object.keys(flows).indexOf(_flow)}`);
    const before = { ...(await written()), exchanges: exchanges(honest) };
    for (const path of [
      '/sign-in/callback',
      '/sign-in/callback/',
      `/sign-in/callback/${ids.lying}`,
      `/sign-in/callback/${newId('IdentityProvider')}`,
      '/sign-in/callback/idp_',
      '/sign-in/callback/%00',
      '/sign-in/callback/%2e%2e',
      `/sign-in/callback/%2F${ids.honest}`,
      `/sign-in/callback/${ids.honest.toUpperCase()}`,
      `/sign-in/callback/${ids.honest}%20`,
      `/sign-in/callback/${ids.honest}/${ids.honest}`,
      `/sign-in/callback/${'x'.repeat(5_000)}`,
    ]) {
      const refused = await browser.open(`${path}${answer.search}`);
      expect([path, refused.status]).toEqual([path, 404]);
      expect(refused.body).toContain('<h1>');
      expect({ ...(await written()), exchanges: exchanges(honest) }).toEqual(before);
    }
    for (const broken of ['%', '%E0%A4%A']) {
      const refused = await browser.open(`/sign-in/callback/${broken}${answer.search}`);
      expect([400, 404]).toContain(refused.status);
    }
    await browser.open(answer);
    expect(exchanges(honest)).toBe(before.exchanges + 1);
    expect((await written()).open).toBe(before.open - 1);
    await browser.open(answer);
    expect(exchanges(honest)).toBe(before.exchanges + 1);
  });

  test.each([
    ['disabled', (id: string) => admin.done('updateIdentityProvider', { id, enabled: false })],
    ['deleted', (id: string) => admin.done('deleteIdentityProvider', { id })],
  ])('of a provider that is %s meanwhile reaches nobody', async (_how, end) => {
    people += 1;
    const id = await connectSteered(service, honest, `Brief ${people}`);
    const { browser, url } = await begin(id);
    const answer = honest.signedIn(url, 'nobody');
    const before = exchanges(honest);
    await end(id);
    await browser.open(answer);
    expect(exchanges(honest)).toBe(before);
    expect(await prisma.userIdentity.count({ where: { subject: 'nobody' } })).toBe(0);
    expect(await prisma.newcomer.count({ where: { subject: 'nobody' } })).toBe(0);
  });
});

describe('a provider of the time of the shared redirect URI', () => {
  const begin = flows['a sign-in'] as NonNullable<(typeof flows)[string]>;
  const stateOf = async (id: string) =>
    (await prisma.identityProvider.findUniqueOrThrow({ where: { id } })).redirectUriState;
  const isIn = async (browser: Browser, answer: URL) =>
    (await browser.open(answer)).url.pathname.endsWith('/profile');

  test.each(Object.entries(flows))('keeps it in %s if it sends iss', async (_flow, leave) => {
    await setState('SHARED');
    const { browser, url } = await leave(ids.honest);
    expect(url.searchParams.get('redirect_uri')).toBe(shared);
    const before = exchanges(honest);
    await browser.open(honest.signedIn(url, 'kept'));
    expect(exchanges(honest)).toBe(before + 1);
    expect(await stateOf(ids.honest)).toBe('SHARED');
  });

  test.each([
    ['no iss', (answer: URL) => answer.searchParams.delete('iss')],
    ['the iss of another', (answer: URL) => answer.searchParams.set('iss', lying.issuer)],
    ['two', (answer: URL) => answer.searchParams.append('iss', lying.issuer)],
    ['an empty one', (answer: URL) => answer.searchParams.set('iss', '')],
  ])('is refused with %s', async (_case, change) => {
    await setState('SHARED');
    const { browser, url } = await begin(ids.honest);
    const answer = honest.signedIn(url, 'with-another');
    change(answer);
    const before = exchanges(honest);
    expect(await isIn(browser, answer)).toBe(false);
    expect(exchanges(honest)).toBe(before);
  });

  test('is refused when it no longer says that it sends iss', async () => {
    await setState('SHARED');
    const { browser, url } = await begin(ids.honest);
    const answer = honest.signedIn(url, 'no-longer');
    honest.behave(without);
    const before = exchanges(honest);
    expect(await isIn(browser, answer)).toBe(false);
    expect(exchanges(honest)).toBe(before);
  });

  test('is sent to its own one if it sends no iss, and has it after a sign-in', async () => {
    await setState('SHARED');
    honest.behave(without);
    const { browser, url } = await begin(ids.honest);
    expect(url.searchParams.get('redirect_uri')).toBe(`${shared}/${ids.honest}`);
    expect(await stateOf(ids.honest)).toBe('TO_REGISTER');
    // Not back, whatever it says later.
    honest.behave({});
    const later = await begin(ids.honest);
    expect(later.url.searchParams.get('redirect_uri')).toBe(`${shared}/${ids.honest}`);
    expect(await stateOf(ids.honest)).toBe('TO_REGISTER');
    expect(await isIn(browser, honest.signedIn(url, 'moved'))).toBe(true);
    expect(await stateOf(ids.honest)).toBe('OWN');
  });

  test('moves by redirectUriRegistered, and people on the way still arrive', async () => {
    await setState('SHARED');
    const early = await begin(ids.honest);
    const [answer, { identityProvider }] = [
      honest.signedIn(early.url, 'early'),
      await admin.done('updateIdentityProvider', { id: ids.honest, redirectUriRegistered: true }),
    ];
    expect(identityProvider.id).toBe(ids.honest);
    expect(await stateOf(ids.honest)).toBe('OWN');
    expect(await isIn(early.browser, answer)).toBe(true);
    const { browser, url } = await begin(ids.honest);
    expect(url.searchParams.get('redirect_uri')).toBe(`${shared}/${ids.honest}`);
    expect(await isIn(browser, honest.signedIn(url, 'later'))).toBe(true);
  });

  test('moves with another client, and with nothing else', async () => {
    await setState('SHARED');
    const { clientId, issuer, clientSecret } = honest;
    const same = { id: ids.honest, name: 'Honest', clientId, issuer, clientSecret };
    await admin.done('updateIdentityProvider', same);
    expect(await stateOf(ids.honest)).toBe('SHARED');
    await admin.done('updateIdentityProvider', { id: ids.honest, clientId: 'another' });
    expect(await stateOf(ids.honest)).toBe('OWN');
    await admin.done('updateIdentityProvider', { id: ids.honest, clientId });
  });

  test('is found at the next start, if nobody can sign in by it', async () => {
    await setState('SHARED');
    honest.behave(without);
    const node = await startSecondNode(service);
    await eventually(async () => expect(await stateOf(ids.honest)).toBe('TO_REGISTER'));
    expect(await stateOf(ids.lying)).toBe('SHARED');
    await node.stop();
  });

  test('begun by the version before comes back with iss alone', async () => {
    for (const hasIss of [true, false]) {
      await setState('SHARED');
      const { browser, url } = await begin(ids.honest);
      await prisma.federation.updateMany({ data: { redirectUri: null } });
      const answer = honest.signedIn(url, `before-${hasIss}`);
      if (!hasIss) {
        honest.behave(without);
        answer.searchParams.delete('iss');
      }
      expect(await isIn(browser, answer)).toBe(hasIss);
    }
  });
});
