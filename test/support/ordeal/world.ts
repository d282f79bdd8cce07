import { newId } from '../../../src/ids.ts';
import {
  currentPasswordAlgorithm,
  hashPassword,
  standardPasswordCost,
} from '../../../src/users/password.ts';
import { closeAtEnd } from '../cleanup.ts';
import { fetchManagementToken } from '../client-credentials.ts';
import { createMaker } from '../operations/maker.ts';
import { overGraphQL } from '../operations/operations.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../peers/openid-provider.ts';
import { password, redirectUri } from '../people/sign-in-fixture.ts';
import { changeSettings } from '../people/sign-in-settings.ts';
import { Cluster } from './cluster.ts';
import { Deeds } from './deeds.ts';
import { registerTwice } from './federation.ts';
import { startFront } from './front.ts';
import { type Life, live } from './person.ts';

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
  readonly people: readonly Person[];
  /** The administrator's way to the management API. */
  readonly admin: { readonly url: string; readonly token: string };
}

/** Somebody with an account and a password. */
export interface Person {
  readonly userId: string;
  readonly username: string;
  readonly email: string;
}

// More than the disasters take.
const mostPeople = 100;

/** Starts nodes on a database; they stop with the test, or with its file. */
export async function createWorld(
  environment: Readonly<Record<string, string>>,
  nodes: number,
): Promise<World> {
  const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };
  const front = await startFront((number) => cluster.url(number));
  closeAtEnd(() => front.close());
  const cluster = new Cluster(
    {
      ...environment,
      BASE_URL: front.url,
      TRUST_PROXY: '1',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      SIGNET_SECRET: 'a secret for tests only, and a long one',
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
    },
    nodes,
  );
  closeAtEnd(() => cluster.stopAll());
  await cluster.startAll();
  const provider = await startOpenIdProvider();
  const endpoint = { url: front.url, token: await fetchManagementToken(front, admin) };
  const { done } = createMaker(overGraphQL(endpoint, endpoint.token));
  await changeSettings(endpoint, endpoint.token, {
    signUpIdentifiers: ['EMAIL'],
    factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'],
  });
  const { issuer, clientId, clientSecret } = provider;
  const { identityProvider } = await done('createIdentityProvider', {
    ...{ name: 'Club', kind: 'SOCIAL', issuer, clientId, clientSecret },
  });
  const kind = { type: 'TRADITIONAL', redirectUris: [redirectUri] };
  const { application, secret } = await done('createApplication', {
    ...{ ...kind, name: 'Pocket', allowHeadlessSignIn: true },
  });
  const shop = await done('createApplication', { ...kind, name: 'Shop', isThirdParty: true });
  const usernames = Array.from({ length: mostPeople }, (_, number) => `person${number}`);
  const passwordDigest = await hashPassword({ passwordCost: standardPasswordCost }, password);
  const { users } = await done('importUsers', {
    users: usernames.map((username) => ({
      username,
      primaryEmail: `${username}@example.com`,
      isEmailVerified: true,
      passwordDigest,
      passwordAlgorithm: currentPasswordAlgorithm,
    })),
  });
  return {
    cluster,
    deeds: new Deeds(),
    url: front.url,
    provider,
    providerId: identityProvider.id,
    application: { id: application.id, secret },
    shop: shop.application,
    people: usernames.map((username, number) => ({
      userId: users[number].id,
      username,
      email: `${username}@example.com`,
    })),
    admin: endpoint,
  };
}

/** What became of everybody. */
export interface Lives {
  readonly lives: readonly Life[];
  /** The subjects at the provider of those who came without an account. */
  readonly strangers: readonly string[];
  /** Whether there were people enough for all disasters. */
  readonly isOver: boolean;
}

/** How many people do something at once. */
export const lanes = 8;

/**
 * Lets people live through disasters, each of which comes in the middle of what some do at once.
 *
 * @param least How many people live at least; more do as long as the disasters are not over.
 */
export async function liveThrough(
  world: World,
  disasters: readonly (() => unknown)[],
  least = 10,
): Promise<Lives> {
  const { deeds, people } = world;
  let isOver = false;
  const strike = async () => {
    for (const disaster of disasters) {
      await deeds.reached(deeds.done + 30);
      await disaster();
    }
    isOver = true;
  };
  const lives: Life[] = [];
  const strangers: string[] = [];
  const waiting = people.entries();
  const lane = async () => {
    for (const [number, person] of waiting) {
      if (isOver && number >= least) return;
      lives.push(await live(world, number, person));
      if (number % 2 === 0) continue;
      strangers.push(`stranger${number}`);
      await registerTwice(world, `stranger${number}`);
    }
  };
  const lived = Promise.all(Array.from({ length: lanes }, lane));
  await Promise.race([strike(), lived]);
  await lived;
  return { lives, strangers, isOver };
}
