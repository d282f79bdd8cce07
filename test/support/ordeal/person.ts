import { systemClock } from '../../../src/clock.ts';
import { basic } from '../client-credentials.ts';
import { type AccountClient, accountClient, accountIndicator } from '../people/account.ts';
import { authenticatorApp } from '../people/authenticator-app.ts';
import { type Send, type StepResult, startHeadless, step } from '../people/experience.ts';
import { createAuthenticator } from '../people/passkeys/authenticator.ts';
import { password, redirectUri } from '../people/sign-in-fixture.ts';
import type { Outcome } from './deeds.ts';
import { arriveTwice, linkTwice, openPages, openSignedIn, twice } from './federation.ts';
import type { Person, World } from './world.ts';

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
  /** By the subjects at the provider. */
  readonly identities: Map<string, Thing>;
  grant?: Thing;
  /** By their ids. The second one may have been ended. */
  readonly sessions: Map<string, Thing>;
  deleted?: Outcome;
}

/** Signs in without a browser; returns an access token for the Account API. */
export async function signIn(
  { url, application }: Pick<World, 'url' | 'application'>,
  identifier: string,
): Promise<string> {
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

/** A person in a browser, who is asked what the shop may do. */
async function faceConsent(world: World, identifier: string): Promise<Send> {
  const { send } = await openPages(world, world.shop, 'openid profile');
  await step(send, 'signInWithPassword', { identifier, password });
  await step(send, 'skipEnrollment');
  return send;
}

/** Lives through everything that a person may do with factors, identities, consents and sessions. */
export async function live(
  world: World,
  number: number,
  { userId, username, email }: Person,
): Promise<Life> {
  const { cluster, deeds } = world;
  const life: Life = {
    ...{ userId, email, names: [] },
    ...{ factors: new Map(), identities: new Map(), sessions: new Map() },
  };
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

  const sessionOf = async (own: string): Promise<string> =>
    (await read('sessions { edges { node { id isCurrent } } }', own))['sessions'].edges.find(
      ({ node }: { node: { isCurrent: boolean } }) => node.isCurrent,
    ).node.id;

  await run('verifyViewerPassword', { password });
  await rename();
  await linkAtSignIn();
  await linkInAccount();
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

  async function linkAtSignIn() {
    const subject = `of-${username}`;
    life.identities.set(subject, { added: await arriveTwice(world, subject, email) });
  }

  async function linkInAccount() {
    const subject = `account-of-${username}`;
    const browser = await deeds.sure(() => openSignedIn(world, username));
    await linkTwice(world, {
      browser,
      subject,
      begin: (input) => run('startViewerFederation', input),
    });
    life.identities.set(subject, { added: 'DONE' });
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
      'identities { edges { node { id subject } } } grants { edges { node { id } } }',
    );
    const [identity] = identities.edges;
    const linked = life.identities.get(identity?.node.subject);
    if (number % 3 === 0 && linked)
      linked.removed = await both('deleteViewerIdentity', { id: identity.node.id });
    const [grant] = grants.edges;
    if (number % 4 === 0 && grant && life.grant)
      life.grant.removed = await both('revokeViewerGrant', { id: grant.node.id });
    life.sessions.set(await sessionOf(token), { added: 'DONE' });
    const id = await sessionOf(other);
    life.sessions.set(id, { added: 'DONE', removed: await both('endViewerSession', { id }) });
    if (number % 5 === 4) life.deleted = await both('deleteViewer');
  }
}
