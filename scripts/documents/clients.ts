import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './blocks.ts';
import { code, codes, table } from './markdown.ts';

/** Where the apps are that sign people in with other people's packages. */
const clientsFolder = 'examples/clients';

/** What `docs/clients.md` tells of each client. */
export const abilities = [
  'PKCE',
  'resource',
  'refresh',
  'user info',
  'sign-out',
  'revocation',
] as const;

/**
 * How a client does a thing: `yes` for by itself, `no` for not at all, or else what the file has for it, word for word.
 */
export type Ability = string;

/** How a client sends its secret to the token endpoint. */
export const secretIn = {
  basic: 'Basic',
  form: 'in the form',
  emptyBasic: 'Basic, empty',
  nothing: 'none',
} as const;

/** A file of `examples/clients`. */
interface Recipe {
  readonly file: string;
  /** The package that the file is about. */
  readonly package: string;
  /** What was tried, where it is not of npm. */
  readonly version?: string;
  /** What a Python has to have, for a file in Python. */
  readonly modules?: string;
}

/** An app of `examples/clients` that `npm run test:interop` signs people in with. */
export interface Client extends Recipe {
  /** How it is used, where the package has several ways. */
  readonly by?: string;
  /** The page with its code, where it runs in the browser. */
  readonly page?: string;
  /** What its application is created with, besides its URIs. */
  readonly application: {
    readonly type: 'TRADITIONAL' | 'SPA' | 'NATIVE';
    readonly requirePkce?: false;
  };
  /** The path of its redirect URI. */
  readonly callback: string;
  readonly secret: (typeof secretIn)[keyof typeof secretIn];
  readonly does: Readonly<Record<(typeof abilities)[number], Ability>>;
}

const web = { type: 'TRADITIONAL' } as const;

export const clients: readonly Client[] = [
  {
    file: 'openid-client.js',
    package: 'openid-client',
    application: web,
    callback: '/callback',
    secret: secretIn.form,
    does: {
      PKCE: 'calculatePKCECodeChallenge',
      resource: 'resource: API',
      refresh: 'refreshTokenGrant',
      'user info': 'fetchUserInfo',
      'sign-out': 'buildEndSessionUrl',
      revocation: 'tokenRevocation',
    },
  },
  {
    file: 'oauth4webapi.js',
    package: 'oauth4webapi',
    application: web,
    callback: '/callback',
    secret: secretIn.basic,
    does: {
      PKCE: 'calculatePKCECodeChallenge',
      resource: 'resource: API',
      refresh: 'refreshTokenGrantRequest',
      'user info': 'userInfoRequest',
      'sign-out': 'end_session_endpoint',
      revocation: 'revocationRequest',
    },
  },
  {
    file: 'express-openid-connect.js',
    package: 'express-openid-connect',
    application: web,
    callback: '/callback',
    secret: secretIn.basic,
    does: {
      PKCE: 'yes',
      resource: 'audience: API',
      refresh: 'token.refresh()',
      'user info': 'fetchUserInfo',
      'sign-out': 'idpLogout',
      revocation: 'no',
    },
  },
  {
    file: 'openid-client-passport.js',
    package: 'openid-client',
    by: 'passport',
    application: web,
    callback: '/callback',
    secret: secretIn.form,
    does: {
      PKCE: 'yes',
      resource: 'resource: API',
      refresh: 'refreshTokenGrant',
      'user info': 'fetchUserInfo',
      'sign-out': 'buildEndSessionUrl',
      revocation: 'tokenRevocation',
    },
  },
  {
    file: 'passport-openidconnect.js',
    package: 'passport-openidconnect',
    application: { ...web, requirePkce: false },
    callback: '/callback',
    secret: secretIn.form,
    does: {
      PKCE: 'no',
      resource: 'no',
      refresh: 'no',
      'user info': 'skipUserProfile: false',
      'sign-out': '/session/end',
      revocation: 'no',
    },
  },
  {
    file: 'simple-oauth2.js',
    package: 'simple-oauth2',
    application: web,
    callback: '/callback',
    secret: secretIn.basic,
    does: {
      PKCE: 'code_challenge',
      resource: 'resource: API',
      refresh: 'tokens.refresh',
      'user info': '/me',
      'sign-out': '/session/end',
      revocation: 'revokeAll',
    },
  },
  {
    file: 'arctic.js',
    package: 'arctic',
    application: { type: 'NATIVE' },
    callback: '/callback',
    secret: secretIn.emptyBasic,
    does: {
      PKCE: 'createAuthorizationURLWithPKCE',
      resource: "searchParams.set('resource'",
      refresh: 'refreshAccessToken',
      'user info': '/me',
      'sign-out': '/session/end',
      revocation: 'revokeToken',
    },
  },
  {
    file: 'auth-core.js',
    package: '@auth/core',
    application: web,
    callback: '/auth/callback/signet',
    secret: secretIn.basic,
    does: {
      PKCE: 'yes',
      resource: 'resource: API',
      refresh: "grant_type: 'refresh_token'",
      'user info': 'idToken: Boolean(API)',
      'sign-out': '/session/end',
      revocation: 'no',
    },
  },
  {
    file: 'better-auth.js',
    package: 'better-auth',
    application: web,
    callback: '/api/auth/callback/signet',
    secret: secretIn.form,
    does: {
      PKCE: 'yes',
      resource: 'resource: API',
      refresh: 'api.refreshToken',
      'user info': 'no',
      'sign-out': 'api.signOut',
      revocation: 'no',
    },
  },
  {
    file: 'hono-oidc-auth.js',
    package: '@hono/oidc-auth',
    application: web,
    callback: '/callback',
    secret: secretIn.basic,
    does: {
      PKCE: 'yes',
      resource: 'no',
      refresh: 'yes',
      'user info': 'no',
      'sign-out': 'end_session_endpoint',
      revocation: 'revokeSession',
    },
  },
  {
    file: 'oidc-client-ts.js',
    package: 'oidc-client-ts',
    page: 'oidc-client-ts.html',
    application: { type: 'SPA' },
    callback: '/callback',
    secret: secretIn.nothing,
    does: {
      PKCE: 'yes',
      resource: 'resource: API',
      refresh: 'yes',
      'user info': 'loadUserInfo: true',
      'sign-out': 'signoutRedirect',
      revocation: 'revokeTokensOnSignout: true',
    },
  },
  {
    file: 'python/authlib_flask.py',
    package: 'Authlib',
    version: '1.2.0',
    modules: 'authlib, flask, requests',
    application: web,
    callback: '/callback',
    secret: secretIn.basic,
    does: {
      PKCE: 'code_challenge_method',
      resource: '{"resource": API}',
      refresh: 'grant_type="refresh_token"',
      'user info': 'signet.userinfo',
      'sign-out': 'end_session_endpoint',
      revocation: 'revoke_token',
    },
  },
  {
    file: 'python/requests_oauthlib_flask.py',
    package: 'requests-oauthlib',
    version: '1.3.0',
    modules: 'requests_oauthlib, flask',
    application: web,
    callback: '/callback',
    secret: secretIn.basic,
    does: {
      PKCE: 'code_challenge',
      resource: '{"resource": API}',
      refresh: 'refresh_token(',
      'user info': '/me',
      'sign-out': '/session/end',
      revocation: '/token/revocation',
    },
  },
  {
    file: 'python/python_social_auth_django.py',
    package: 'social-auth-core',
    version: '4.3.0',
    modules: 'social_django, social_core.backends.open_id_connect, requests',
    application: web,
    callback: '/complete/signet/',
    secret: secretIn.basic,
    does: {
      PKCE: 'code_challenge_method',
      resource: '{"resource": API}',
      refresh: 'refresh_token(',
      'user info': 'super().user_data(',
      'sign-out': '/session/end',
      revocation: 'no',
    },
  },
  {
    file: 'apache/mod_auth_openidc.conf',
    package: 'mod_auth_openidc',
    version: '2.4.12.3',
    application: web,
    callback: '/callback',
    secret: secretIn.basic,
    does: {
      PKCE: 'OIDCPKCEMethod S256',
      resource: 'OIDCAuthRequestParams resource',
      refresh: 'OIDCRefreshAccessTokenBeforeExpiry',
      'user info': 'yes',
      'sign-out': '?logout=',
      revocation: 'yes',
    },
  },
];

/** A program that gets tokens without a browser: its own, and by exchange. */
export interface Machine extends Recipe {
  readonly does: Readonly<Record<'own token' | 'exchange', Ability>>;
}

const exchangeType = 'urn:ietf:params:oauth:grant-type:token-exchange';

export const machines: readonly Machine[] = [
  {
    file: 'machines/openid-client.js',
    package: 'openid-client',
    does: { 'own token': 'clientCredentialsGrant', exchange: 'genericGrantRequest' },
  },
  {
    file: 'machines/oauth4webapi.js',
    package: 'oauth4webapi',
    does: { 'own token': 'clientCredentialsGrantRequest', exchange: 'genericTokenEndpointRequest' },
  },
  {
    file: 'machines/simple-oauth2.js',
    package: 'simple-oauth2',
    does: { 'own token': 'getToken(target)', exchange: `grant_type: '${exchangeType}'` },
  },
  {
    file: 'machines/authlib_requests.py',
    package: 'Authlib',
    version: '1.2.0',
    modules: 'authlib, requests',
    does: {
      'own token': 'grant_type="client_credentials"',
      exchange: `grant_type="${exchangeType}"`,
    },
  },
  {
    file: 'machines/requests_oauthlib_backend.py',
    package: 'requests-oauthlib',
    version: '1.3.0',
    modules: 'requests_oauthlib',
    does: { 'own token': 'BackendApplicationClient', exchange: 'class TokenExchange' },
  },
];

const versions = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(join(root, clientsFolder, 'package.json'), 'utf8')).dependencies;

const isWords = (ability: Ability) => !/^(yes|no)$/.test(ability);

/** What a file has for what it does, word for word. */
export const wordsOf = ({ does }: Client | Machine): readonly string[] =>
  Object.values(does).filter(isWords);

/** The package with the version that was tried. */
export const titleOf = ({ package: name, version, by }: Recipe & Pick<Client, 'by'>): string =>
  [name, version ?? versions()[name], by && `by ${by}`].filter(Boolean).join(' ');

const linkTo = (client: Recipe & Pick<Client, 'by' | 'page'>) =>
  `[${titleOf(client)}](../${clientsFolder}/${client.page ?? client.file})`;

const cell = (ability: Ability) => (isWords(ability) ? code(ability) : ability);

/** The clients, each with what it does by itself, by what in its file, and not at all. */
export const abilitiesTable = (): string =>
  table(
    ['client', ...abilities],
    clients.map((client) => [
      linkTo(client),
      ...abilities.map((ability) => cell(client.does[ability])),
    ]),
  );

/** What gets tokens without a browser. */
export const machinesTable = (): string =>
  table(
    ['client', 'its own token', 'exchange'],
    machines.map((machine) => [
      linkTo(machine),
      cell(machine.does['own token']),
      cell(machine.does.exchange),
    ]),
  );

/** The clients, each with what its application is created with. */
export const settingsTable = (): string =>
  table(
    ['client', 'application', 'redirect URI ends in', 'its secret'],
    clients.map((client) => {
      const { callback, secret } = client;
      const { type, ...others } = client.application;
      const settings = Object.entries(others).map(([name, value]) => `${name}: ${value}`);
      return [linkTo(client), codes([type, ...settings]), code(callback), secret];
    }),
  );
