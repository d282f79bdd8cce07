import { systemClock } from '../../../src/clock.ts';
import { basic } from '../client-credentials.ts';
import type { OpenIdProvider } from '../peers/openid-provider.ts';
import { type AccountClient, accountClient, accountIndicator } from '../people/account.ts';
import { authenticatorApp } from '../people/authenticator-app.ts';
import { asPage, type Send, type StepResult, startHeadless, step } from '../people/experience.ts';
import { passThrough } from '../people/federation.ts';
import { createAuthenticator } from '../people/passkeys/authenticator.ts';
import { openBrowser, type Visit } from '../people/sign-in.ts';
import { authorize, password, redirectUri } from '../people/sign-in-fixture.ts';
import type { Cluster } from './cluster.ts';
import type { Deeds, Outcome } from './deeds.ts';

/** Where people live: the nodes, one address for all, and the applications and the provider that they use. */
export interface World {
  readonly cluster: Cluster;
  readonly deeds: Deeds;
  /** The address of all nodes. */
  readonly url: string;
  readonly provider: OpenIdProvider;
  readonly providerId: string;
  /** An application without a browser, and one that asks for consent. */
  readonly application: { readonly id: string; readonly secret: string };
  readonly shop: { readonly id: string };
}

/** Something that a person added to the account, and perhaps took away again. */
export interface Thing {
  readonly added: Outcome;
  removed?: Outcome;
}

/** What a person did, as far as they know. */
export interface Life {
  readonly userId: string;
  readonly email: string;
  /** Every name that was asked for, in order. */
  readonly names: { readonly name: string; readonly outcome: Outcome }[];
  /** By the names of the factors; the backup codes have none. */
  readonly factors: Map<string, Thing>;
  /** How often one backup code was used. */
  code?: Outcome;
  identity?: Thing;
  grant?: Thing;
  /** The second session, which may have been ended. */
  session?: { readonly id: string; readonly ended: Outcome };
  deleted?: Outcome;
}

/** A page of the service; a node without its database counts as one that did not answer. */
function shown(visit: Visit): Visit {
  if ([429, 503].includes(visit.status)) throw new Error(`A page answered ${visit.status}.`);
  return visit;
}

/** Signs in without a browser. */
async function signIn({ url, application }: World, identifier: string): Promise<string> {
  const { send, verifier } = await startHeadless(
    { url },
    {
      clientId: application.id,
      redirectUri,
      scope: 'openid account:read account:write',
      resource: accountIndicator,
    },
  );
  await step(send, 'signInWithPassword', { identifier, password });
  const { redirectTo, ...refused } = await step(send, 'submitInteraction');
  if (!redirectTo) throw new Error(`No sign-in: ${JSON.stringify(refused)}`);
  const response = await fetch(`${url}/oidc/token`, {
    method: 'POST',
    headers: { authorization: basic(application.id, application.secret) },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: new URL(redirectTo).searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource: accountIndicator,
    }),
  });
  const { access_token: token, ...fault } = (await response.json()) as { access_token?: string };
  // The code was used up by a request whose answer was lost only if this one is sent again: it never is.
  if (!token)
    throw new Error(`The token endpoint answered ${response.status}: ${JSON.stringify(fault)}`);
  return token;
}

/** Somebody who comes back from the provider: the way to confirm it, and to go on. */
async function arrive(
  { url, application, provider, providerId }: World,
  subject: string,
  email: string,
): Promise<{ send: Send; confirm: () => Promise<Visit> }> {
  const { send } = await startHeadless({ url }, { clientId: application.id, redirectUri });
  const started = await step(send, 'startFederation', { identityProviderId: providerId });
  const there = provider.visitOf(started['url'], subject, { email, email_verified: true });
  const browser = openBrowser(url);
  const page = shown(await browser.open(await passThrough(there)));
  return { send, confirm: async () => shown(await browser.submit(page, {})) };
}

const twice = <T>(make: (turn: number) => T): readonly [T, T] => [make(0), make(1)];

/** One person arrives from the provider in two places at once, and goes on in both. */
async function arriveTwice(world: World, subject: string, email: string): Promise<Outcome> {
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

/** A person in a browser, who is asked what the shop may do. */
async function faceConsent({ url, shop }: World, identifier: string): Promise<Send> {
  const service = { app: { services: { baseUrl: url, issuer: `${url}/oidc` } } };
  const browser = openBrowser(url);
  const { url: asked } = await authorize(service, shop, { scope: 'openid profile' });
  shown(await browser.open(asked));
  const send = asPage(service, browser);
  await step(send, 'signInWithPassword', { identifier, password });
  await step(send, 'skipEnrollment');
  return send;
}

/** Lives through everything that a person may do with factors, identities, consents and sessions. */
export async function live(
  world: World,
  number: number,
  { userId, username, email }: { userId: string; username: string; email: string },
): Promise<Life> {
  const { cluster, deeds } = world;
  const life: Life = { userId, email, names: [], factors: new Map() };
  const token = await deeds.sure(() => signIn(world, username));
  const other = await deeds.sure(() => signIn(world, username));
  const clientAt = async (node: number, own = token): Promise<AccountClient> =>
    accountClient({ url: await cluster.url(node) }, own);
  const run = (name: string, input: object = {}) =>
    deeds.sure(async () => (await clientAt(number)).run(name, input));
  const both = (name: string, input: object = {}) =>
    deeds.race(
      name,
      twice((node) => async () => (await clientAt(node)).run(name, input)),
    );
  const read = (fields: string, own = token) =>
    deeds.sure(async () => {
      const { status, body } = await (await clientAt(number, own)).query(
        `{ viewer { ${fields} } }`,
      );
      if (!body.data) throw new Error(`viewer answered ${status}: ${JSON.stringify(body.errors)}`);
      return body.data['viewer'] as StepResult;
    });
  const hasFactor = async (name: string) =>
    (await read('factors { edges { node { id name type } } }'))['factors'].edges
      .map(({ node }: { node: { id: string; name: string | null } }) => node)
      .find((factor: { name: string | null }) => factor.name === name);

  await run('verifyViewerPassword', { password });
  await rename();
  await linkIdentity();
  if (number % 2 === 0) await consent();
  await addApp();
  await addCodes();
  await addPasskey();
  await rename();
  await takeAway();
  return life;

  async function rename() {
    const name = `Person ${number}, ${life.names.length}`;
    const outcome = await deeds.attempt(async () =>
      (await clientAt(number)).run('updateViewer', { name }),
    );
    life.names.push({ name, outcome });
  }

  async function linkIdentity() {
    life.identity = { added: await arriveTwice(world, `of-${username}`, email) };
  }

  async function consent() {
    const pages = await Promise.all(twice(() => deeds.sure(() => faceConsent(world, username))));
    const outcomes = await Promise.all(
      pages.map((send) => deeds.attempt(() => step(send, 'grantConsent'))),
    );
    life.grant = { added: outcomes.includes('DONE') ? 'DONE' : 'UNKNOWN' };
    await Promise.all(pages.map((send) => deeds.attempt(() => step(send, 'submitInteraction'))));
  }

  async function addApp() {
    const { secret } = await run('enrollTotp');
    const app = authenticatorApp(systemClock, secret);
    const name = `App of ${username}`;
    life.factors.set(name, { added: await both('confirmTotp', { code: app.code(), name }) });
    // The next time step: that of the confirmation is used up.
    if (await hasFactor(name)) await both('verifyTotp', { code: app.code(1) });
  }

  async function addCodes() {
    const { codes } = await run('createBackupCodes');
    life.code = await both('verifyBackupCode', { code: codes[0] });
  }

  async function addPasskey() {
    const authenticator = createAuthenticator(new URL(world.url).origin, { countsUses: true });
    const name = `Key of ${username}`;
    const { options } = await run('startPasskeyEnrollment');
    const response = authenticator.create(options);
    life.factors.set(name, { added: await both('confirmPasskey', { response, name }) });
    if (!(await hasFactor(name))) return;
    const { options: asked } = await run('startPasskey');
    await both('verifyPasskey', { response: authenticator.get(asked) });
  }

  async function takeAway() {
    const [name, thing] = [...life.factors][number % life.factors.size] ?? [];
    const factor = name && (await hasFactor(name));
    if (factor && thing) thing.removed = await both('deleteViewerFactor', { id: factor.id });
    const { identities, grants } = await read(
      'identities { edges { node { id } } } grants { edges { node { id } } }',
    );
    const [identity] = identities.edges;
    if (number % 3 === 0 && identity && life.identity)
      life.identity.removed = await both('deleteViewerIdentity', { id: identity.node.id });
    const [grant] = grants.edges;
    if (number % 4 === 0 && grant && life.grant)
      life.grant.removed = await both('revokeViewerGrant', { id: grant.node.id });
    const { sessions } = await read('sessions { edges { node { id isCurrent } } }', other);
    const id = sessions.edges.find(({ node }: { node: { isCurrent: boolean } }) => node.isCurrent)
      .node.id;
    life.session = { id, ended: await both('endViewerSession', { id }) };
    if (number % 5 === 4) life.deleted = await both('deleteViewer');
  }
}
