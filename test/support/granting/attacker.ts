import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { managementIndicator, managementScopes } from '../../../src/auth/scopes.ts';
import { basic } from '../client-credentials.ts';
import { seedDirectory, type TestClient } from '../operations/directory.ts';
import { createMaker } from '../operations/maker.ts';
import { type Input, overGraphQL } from '../operations/operations.ts';
import { accountIndicator } from '../people/account.ts';
import { type ConsoleBrowser, openConsole } from '../people/console.ts';
import { asPage, type Send, type StepResult, step } from '../people/experience.ts';
import { discover, type Visit } from '../people/sign-in.ts';
import { openSignInPage, redirectUri } from '../people/sign-in-fixture.ts';
import type { TestService } from '../service.ts';
import { formOf, postToken } from '../tokens.ts';
import { laterFields } from './later.ts';

/** Every scope of the management API, as a request asks for them. */
export const everyScope = [...managementScopes.keys()].join(' ');

/** What each attacker and administrator knows. */
export const password = 'a phrase that both know';

/** All that a caller with one scope may ever hold. */
export const upTo = (scope: string): string[] =>
  scope
    .split(' ')
    .flatMap((name) => {
      if (name === 'all') return [...managementScopes.keys()];
      return name.endsWith(':write') ? [name.replace(':write', ':read'), name] : [name];
    })
    .sort();

const scopesIn = (token: unknown): string[] =>
  String(decodeJwt(String(token))['scope'] ?? '')
    .split(' ')
    .filter((name) => name !== '')
    .sort();

/** The steps of a sign-in, until the person is known, or until the pages led the browser to the application. */
export type Steps = (
  send: Send,
  browser: ConsoleBrowser,
) => Promise<StepResult | Visit | undefined>;

/** By a name and the password. */
export const byPassword =
  (identifier: string): Steps =>
  (send) =>
    step(send, 'signInWithPassword', { identifier, password });

/** By a one-time token. */
export const byToken =
  (email: string, token: string): Steps =>
  (send) =>
    step(send, 'redeemOneTimeToken', { email, token });

/** By a code that a function reads where it arrives. */
export const byCode =
  (
    address: { readonly email?: string; readonly phone?: string },
    read: () => Promise<string>,
  ): Steps =>
  async (send) => {
    const sent = await step(send, 'sendCode', { purpose: 'SIGN_IN', ...address });
    const verificationId = sent['verification']?.id;
    return step(send, 'verifyCode', { verificationId, code: await read() });
  };

/**
 * An attacker with one scope, an administrator with `all`, and what either gets: the scopes of the most powerful access
 * tokens, and of the console.
 */
export async function startAttack(service: TestService) {
  const { database } = service.app.services;
  const { prisma } = database;
  const call = overGraphQL(service, await service.managementToken());
  const make = createMaker(call);
  const { done, next } = make;
  const directory = seedDirectory(database, service.clock);
  const trusted = await directory.createClient({
    type: 'TRADITIONAL',
    redirectUris: [redirectUri],
  });
  const management = await prisma.resource.findUniqueOrThrow({
    where: { indicator: managementIndicator },
    include: { scopes: true },
  });
  // Each of them, so that nothing is held only because `all` is.
  const scopeIds = management.scopes.map(({ id }) => id);
  const powerful = await make.role({ scopeIds });
  const trustedConfig = await discover(service, trusted);
  const attacked = new Map<string, Set<string>>();
  const narrow = new Map<string, string>();

  /** Goes on from the page of a sign-in to the application. */
  async function finish(browser: ConsoleBrowser, visit: Visit, steps: Steps): Promise<Visit> {
    if (!visit.url.pathname.startsWith('/sign-in/')) return visit;
    const send = asPage(service, browser);
    const last = await steps(send, browser);
    if (last && 'url' in last && last.url instanceof URL && last.url.searchParams.has('code'))
      return last as Visit;
    const { redirectTo } = await step(send, 'submitInteraction').catch(() => ({
      redirectTo: null,
    }));
    return typeof redirectTo === 'string' ? browser.open(redirectTo) : visit;
  }

  /** What a browser has: by a token through an application that nobody is asked about, and at the console. */
  async function rightsIn(browser: ConsoleBrowser, steps: Steps = async () => undefined) {
    const request = { browser, resource: managementIndicator, scope: `openid ${everyScope}` };
    const { visit: page, verifier } = await openSignInPage(service, trusted, request);
    const visit = await finish(browser, page, steps);
    const rights = new Set<string>();
    if (visit.url.searchParams.has('code')) {
      const resource = { resource: managementIndicator };
      const checks = { pkceCodeVerifier: verifier };
      const tokens = await oidc.authorizationCodeGrant(trustedConfig, visit.url, checks, resource);
      for (const scope of scopesIn(tokens.access_token)) rights.add(scope);
      await browser.open('/console/sign-in');
      for (const scope of (await browser.session())?.scopes ?? []) rights.add(scope);
    }
    const isSignedIn = visit.url.searchParams.has('code');
    return {
      isSignedIn,
      scopes: [...rights].sort(),
      reason: `${visit.url} ${visit.body.slice(-900)}`,
    };
  }

  return {
    service,
    make,
    done,
    next,
    scopeIds,
    directory,
    prisma,
    trusted,
    attacked,
    rightsIn,

    /** Sets something up by a token with one scope; of `all`, as it is meant to be used. */
    async setUp(scope: string, operation: string, input: Input) {
      const token = narrow.get(scope) ?? (await service.managementToken(scope));
      narrow.set(scope, token);
      if (scope !== 'all') {
        const fields = attacked.get(operation) ?? new Set<string>();
        attacked.set(operation, fields.union(new Set(Object.keys(input))));
      }
      const outcome = await call(operation, input, token);
      if (outcome.code !== 'OK') throw new Error(`${operation}: ${JSON.stringify(outcome)}`);
      return outcome.payload;
    },

    /** The later fields of these operations that nobody attacked. */
    missing: (operations: readonly string[]) =>
      operations.flatMap((operation) =>
        laterFields(operation)
          .filter((field) => !attacked.get(operation)?.has(field))
          .map((field) => `${operation}.${field}`),
      ),

    /** The rights of a person in a new browser, by a sign-in. */
    async rightsBy(steps: Steps) {
      return (await rightsIn(openConsole(service), steps)).scopes;
    },

    /** A browser in which somebody has signed in, before they have rights. */
    async signedIn(steps: Steps) {
      const browser = openConsole(service);
      const { isSignedIn, reason } = await rightsIn(browser, steps);
      if (!isSignedIn) throw new Error(`The sign-in did not work: ${reason}`);
      return browser;
    },

    /** A token of the Account API, for a browser in which somebody is signed in. */
    async accountToken(browser: ConsoleBrowser): Promise<string> {
      const resource = accountIndicator;
      const request = { browser, resource, scope: 'openid account:read account:write' };
      const { visit, verifier } = await openSignInPage(service, trusted, request);
      const checks = { pkceCodeVerifier: verifier };
      const tokens = await oidc.authorizationCodeGrant(trustedConfig, visit.url, checks, {
        resource,
      });
      return tokens.access_token;
    },

    /** What an application's secret gets for itself. */
    async rightsOf({ id, secret }: TestClient): Promise<string[]> {
      const { body } = await postToken(
        service,
        formOf({
          grant_type: 'client_credentials',
          resource: managementIndicator,
          scope: everyScope,
        }),
        { authorization: basic(id, secret) },
      );
      return scopesIn(body['access_token']);
    },

    scopesIn,
    role: (input: Input = {}) => make.role({ scopeIds, ...input }),

    /** Gives a user everything. */
    promote: (userId: string) => done('assignUserRoles', { userId, roleIds: [powerful] }),
    /** Gives a role everything. */
    empower: (roleId: string) => done('addRoleScopes', { roleId, scopeIds }),
    empowerInOrganizations: (organizationRoleId: string) =>
      done('addOrganizationRoleResourceScopes', { organizationRoleId, scopeIds }),
    m2m: { type: 'MACHINE_TO_MACHINE' },
  };
}
