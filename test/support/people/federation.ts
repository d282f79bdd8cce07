import { redirectUriOf } from '../../../src/identity-providers/redirect-uri.ts';
import { seedDirectory } from '../operations/directory.ts';
import { createMaker } from '../operations/maker.ts';
import { overGraphQL } from '../operations/operations.ts';
import type { OpenIdProvider } from '../peers/openid-provider.ts';
import type { TestService } from '../service.ts';
import { type Browser, decodeText, openBrowser, type Visit } from './sign-in.ts';
import { openSignInPage, password } from './sign-in-fixture.ts';

/** What a service allows so that it can reach providers on this machine. */
export const allowPrivate = { ALLOW_PRIVATE_WEBHOOKS: 'true' };

/** Calls the management API as the administrator does. */
export const manager = async (service: TestService) =>
  createMaker(overGraphQL(service, await service.managementToken()));

/** Makes an identity provider through the management API; returns its id. */
export async function createIdentityProvider(service: TestService, input: object): Promise<string> {
  const { identityProvider } = await (await manager(service)).done('createIdentityProvider', {
    ...input,
  });
  return identityProvider.id;
}

/** Makes a provider that a test steers one of a service, by default a social one; returns its id. */
export const connectSteered = (
  service: TestService,
  { issuer, clientId, clientSecret }: OpenIdProvider,
  name: string,
  values: object = {},
): Promise<string> =>
  createIdentityProvider(service, {
    ...{ name, kind: 'SOCIAL', issuer, clientId, clientSecret },
    ...values,
  });

/** Makes another service an identity provider of this one. */
export async function connect(
  service: TestService,
  other: TestService,
  input: { readonly name: string; readonly kind?: string; readonly emailDomains?: string[] },
): Promise<string> {
  const directory = seedDirectory(other.app.services.database, other.clock);
  const client = await directory.createClient({
    name: 'Relying service',
    type: 'TRADITIONAL',
    redirectUris: ['https://to-be-registered.example.com'],
  });
  const id = await createIdentityProvider(service, {
    kind: 'SOCIAL',
    issuer: other.app.services.issuer,
    clientId: client.id,
    clientSecret: client.secret,
    ...input,
  });
  await other.app.services.database.prisma.application.update({
    where: { id: client.id },
    data: { redirectUris: [redirectUriOf(service.app.services, id)] },
  });
  return id;
}

/** Presses `Continue with <provider>`; the browser ends at the provider's authorization endpoint. */
export async function continueWith(browser: Browser, visit: Visit, name: string): Promise<Visit> {
  const form = [...visit.body.matchAll(/<form[^>]*>.*?<\/form>/gs)]
    .map(([markup]) => markup)
    .find((markup) => decodeText(markup).includes(`Continue with ${name}<`));
  if (form === undefined) throw new Error(`No button of ${name} at ${visit.url}: ${visit.body}`);
  return browser.submit({ ...visit, body: form }, {});
}

/**
 * Signs in at a provider that is another Signet.
 *
 * @returns The callback's URL.
 */
export async function signInThere(
  other: TestService,
  url: URL | string,
  identifier: string,
  browser = openBrowser(other.app.services.baseUrl),
): Promise<URL> {
  let visit = await browser.open(url);
  if (visit.url.pathname.startsWith('/sign-in/'))
    visit = await browser.submit(visit, { identifier, password });
  if (!visit.url.pathname.startsWith('/sign-in/callback/'))
    throw new Error(`The provider ended at ${visit.url} (${visit.status}): ${visit.body}`);
  return visit.url;
}

/** Opens the sign-in page, continues with a provider that is another Signet, and comes back. */
export async function federate(
  service: TestService,
  other: TestService,
  {
    client,
    provider,
    identifier,
    ...rest
  }: { client: { id: string }; provider: string; identifier: string; browser?: Browser },
): Promise<{ browser: Browser; visit: Visit; verifier: string; callback: URL }> {
  const { browser, visit, verifier } = await openSignInPage(service, client, rest);
  const left = await continueWith(browser, visit, provider);
  const callback = await signInThere(other, left.url, identifier);
  return { browser, verifier, callback, visit: await browser.open(callback) };
}

/** An identity provider of a service: the management API's id, and the name on its button. */
export interface ProviderButton {
  readonly id: string;
  readonly name: string;
}

/** Follows the redirect of a provider that asks nothing; returns the callback's URL. */
export async function passThrough(url: URL | string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) throw new Error(`${url} answered ${response.status}.`);
  return location;
}
