import * as oidc from 'openid-client';
import type { Prisma, User } from '../../../src/generated/prisma/client.ts';
import type { Services } from '../../../src/services.ts';
import { hashPassword } from '../../../src/users/password.ts';
import { seedDirectory, type TestClient } from '../operations/directory.ts';
import type { TestService } from '../service.ts';
import { type Browser, discover, openBrowser, signIn, type Visit } from './sign-in.ts';

/** The password of every user of the fixture. */
export const password = 'correct horse battery staple';

/** The redirect URI of the fixture's applications. */
export const redirectUri = 'https://app.example.com/callback';

/** A directory with a user who may read a resource, and a web application to sign in to. */
export async function createSignInFixture(service: TestService) {
  const { database } = service.app.services;
  const directory = seedDirectory(database, service.clock);
  const passwordDigest = await hashPassword(service.app.services, password);
  let count = 0;

  const createUser = (values: Partial<Prisma.UserUncheckedCreateInput> = {}): Promise<User> => {
    count += 1;
    return directory.createUser({
      username: `user${count}`,
      passwordDigest,
      passwordAlgorithm: 'Argon2id',
      ...values,
    });
  };
  const createApplication = (
    values: Partial<Prisma.ApplicationUncheckedCreateInput> = {},
  ): Promise<TestClient> =>
    directory.createClient({ type: 'TRADITIONAL', redirectUris: [redirectUri], ...values });

  const user = await createUser({
    username: 'Ada',
    primaryEmail: 'Ada@example.com',
    name: 'Ada Lovelace',
  });
  const client = await createApplication({
    postLogoutRedirectUris: ['https://app.example.com/bye'],
  });
  const resource = await directory.createResource(['read', 'write']);
  await directory.allowUser(user, resource, ['read']);

  return {
    directory,
    database,
    user,
    client,
    resource,
    createUser,
    createApplication,

    /** Signs in the fixture's user, or another; every value can be replaced. */
    signIn: (request: Partial<Parameters<typeof signIn>[1]> = {}) =>
      signIn(service, { client, redirectUri, username: 'Ada', password, ...request }),
  };
}

/** An authorization request of the application, to be sent by hand. */
export interface Authorization {
  readonly url: URL;
  readonly verifier: string;
}

/** Makes an authorization request without the parameters that are undefined. */
export async function authorize(
  service: { readonly app: { readonly services: Pick<Services, 'issuer'> } },
  client: Pick<TestClient, 'id'>,
  parameters: Record<string, string | undefined> = {},
): Promise<Authorization> {
  const verifier = oidc.randomPKCECodeVerifier();
  const url = new URL(`${service.app.services.issuer}/auth`);
  const all: Record<string, string | undefined> = {
    client_id: client.id,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...parameters,
  };
  for (const [name, value] of Object.entries(all))
    if (value !== undefined) url.searchParams.set(name, value);
  return { url, verifier };
}

/** Sends an authorization request and opens the sign-in page. */
export async function openSignInPage(
  service: TestService,
  client: Pick<TestClient, 'id'>,
  {
    browser = openBrowser(service.app.services.baseUrl),
    ...parameters
  }: { browser?: Browser } & Record<string, unknown> = {},
): Promise<{ browser: Browser; visit: Visit; verifier: string }> {
  const { url, verifier } = await authorize(service, client, parameters as Record<string, string>);
  return { browser, visit: await browser.open(url), verifier };
}

/** The token endpoint's answer to a refresh token: the tokens, or the error's code. */
export async function refresh(
  service: TestService,
  client: { id: string; secret?: string },
  refreshToken: string,
  parameters: Record<string, string> = {},
): Promise<oidc.TokenEndpointResponse> {
  return oidc.refreshTokenGrant(await discover(service, client), refreshToken, parameters);
}
