import * as oidc from 'openid-client';
import type { User } from '../../../src/generated/prisma/client.ts';
import type { TestClient } from '../../support/operations/directory.ts';
import { type Browser, discover, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import {
  authorize,
  type createSignInFixture,
  password,
} from '../../support/people/sign-in-fixture.ts';
import type { TestService } from '../../support/service.ts';

type Fixture = Awaited<ReturnType<typeof createSignInFixture>>;

/** A person, and an application that asks for consent. */
export interface Pair {
  readonly user: User;
  readonly client: TestClient;
}

/** What tests of consent do as a person in front of a browser, and as an application. */
export function consentDriver(service: TestService, fixture: Fixture) {
  const { baseUrl, database } = service.app.services;
  return {
    /** A person who may read the fixture's resource, and a third-party application that nobody has allowed anything. */
    async createPair(values: Parameters<Fixture['createApplication']>[0] = {}): Promise<Pair> {
      const user = await fixture.createUser({ name: 'Grace Hopper' });
      await fixture.directory.allowUser(user, fixture.resource, ['read']);
      const client = await fixture.createApplication({
        isThirdParty: true,
        name: 'Garden Shop',
        ...values,
      });
      return { user, client };
    },

    /** Sends an authorization request, and signs in where the page asks for that. */
    async begin(
      { user, client }: Pair,
      parameters: Record<string, string | undefined> = {},
      browser: Browser = openBrowser(baseUrl),
    ): Promise<{ browser: Browser; visit: Visit; verifier: string }> {
      const { url, verifier } = await authorize(service, client, parameters);
      let visit = await browser.open(url);
      if (/name="identifier"/.test(visit.body))
        visit = await browser.submit(visit, { identifier: user.username ?? '', password });
      return { browser, visit, verifier };
    },

    /** A browser in which the person is signed in at another application. */
    async signedIn({ user }: Pick<Pair, 'user'>): Promise<Browser> {
      const browser = openBrowser(baseUrl);
      await fixture.signIn({ browser, username: user.username ?? '' });
      return browser;
    },

    /** Redeems the code that the browser brought. */
    redeem: async (
      { client }: Pick<Pair, 'client'>,
      visit: Visit,
      pkceCodeVerifier: string,
    ): Promise<oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers> =>
      oidc.authorizationCodeGrant(await discover(service, client), visit.url, { pkceCodeVerifier }),

    /** What a person has allowed. */
    grantsOf: ({ id: userId }: Pick<User, 'id'>) =>
      database.prisma.userGrant.findMany({ where: { userId }, include: { scopes: true } }),
  };
}

/** Whether the browser is at the page that asks for consent. */
export const asksConsent = ({ url }: Visit): boolean => url.pathname.endsWith('/consent');

/** The parameters of the answer that the application got. */
export const answerOf = ({ url }: Visit): Record<string, string> =>
  Object.fromEntries(url.searchParams);

/** What the page asks for, line by line. */
export const asked = ({ body }: Visit): (string | undefined)[] =>
  [...body.matchAll(/<li>([^<]*)/g)].map(([, line]) => line);
