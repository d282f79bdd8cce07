import * as oidc from 'openid-client';
import type { TestService } from '../service.ts';

/** A browser without scripts: it keeps cookies by path, follows redirects inside the service, and submits forms. */
export interface Browser {
  /** Sends one request; follows no redirect. */
  request(url: string | URL, init?: RequestInit): Promise<Response>;
  /** The `Cookie` header of a request to this path; empty without cookies. */
  cookiesFor(path: string): string;
  /** Opens a URL and follows redirects inside the service. */
  open(url: string | URL, init?: RequestInit): Promise<Visit>;
  /** Submits the first form of a page with these values and its hidden ones. */
  submit(
    visit: Visit,
    values: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Visit>;
  /** Like {@link submit}, but follows no redirect. */
  post(visit: Visit, values: Record<string, string>): Promise<Response>;
}

/** The page that a browser reached. */
export interface Visit {
  /** The last URL; one outside the service was not opened. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const entities: Record<string, string> = { '&amp;': '&', '&#39;': "'", '&quot;': '"' };

/** The text of an attribute or element, as a page's markup has it. */
export const decodeText = (markup: string): string =>
  markup.replace(/&(?:amp|#39|quot);/g, (entity) => entities[entity] ?? entity);

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/**
 * Opens a browser with an empty cookie jar on the service with this URL.
 *
 * @param node The URL of the node that gets its requests, as by a load balancer.
 * @param sentHeaders What a proxy in front adds to each request.
 */
export function openBrowser(
  baseUrl: string,
  node: string = baseUrl,
  sentHeaders: Readonly<Record<string, string>> = {},
): Browser {
  let cookies: Cookie[] = [];

  function keep(response: Response, url: URL) {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      const attribute = (wanted: string) =>
        attributes
          .find((text) => text.toLowerCase().startsWith(`${wanted}=`))
          ?.slice(wanted.length + 1);
      const path = attribute('path') ?? url.pathname;
      const expires = attribute('expires');
      cookies = cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
      if (expires === undefined || new Date(expires) > new Date())
        cookies.push({ name, value, path });
    }
  }

  const cookiesFor = (pathname: string) =>
    cookies
      .filter(({ path }) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');

  async function request(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address, baseUrl);
    const sent = cookiesFor(url.pathname);
    const headers = new Headers({
      ...sentHeaders,
      ...Object.fromEntries(new Headers(init.headers)),
    });
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    if (sent) headers.set('cookie', sent);
    const to = new URL(`${url.pathname}${url.search}`, node);
    const response = await fetch(to, { ...init, headers, redirect: 'manual' });
    keep(response, url);
    return response;
  }

  async function open(address: string | URL, init?: RequestInit): Promise<Visit> {
    let url = new URL(address, baseUrl);
    let response = await request(url, init);
    for (let hop = 0; hop < 10; hop += 1) {
      const location = response.headers.get('location');
      if (location === null) break;
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.origin !== new URL(baseUrl).origin) break;
      response = await request(url);
    }
    const body = response.bodyUsed ? '' : await response.text();
    return { url, status: response.status, headers: response.headers, body };
  }

  function filled(visit: Visit, values: Record<string, string>) {
    const [, method, action] =
      /<form[^>]* method="([^"]*)" action="([^"]*)"/.exec(visit.body) ?? [];
    if (action === undefined) throw new Error(`No form at ${visit.url} (${visit.status}).`);
    const hidden = [...visit.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const body = new URLSearchParams(
      hidden.map(([, name = '', value = '']) => [decodeText(name), decodeText(value)]),
    );
    for (const [name, value] of Object.entries(values)) body.set(name, value);
    return { method, to: decodeText(action), body };
  }

  return {
    request,
    cookiesFor,
    open,
    submit(visit, values, headers = {}) {
      const { method, to, body } = filled(visit, values);
      return method === 'get'
        ? open(`${to}?${body}`, { headers })
        : open(to, { method: 'POST', body, headers });
    },
    post(visit, values) {
      const { to, body } = filled(visit, values);
      return request(to, { method: 'POST', body });
    },
  };
}

// A service says the same of itself to every client.
const discovered = new WeakMap<TestService, Promise<oidc.Configuration>>();

/** The application in openid-client, from the service's discovery document. */
export async function discover(
  service: TestService,
  client: { id: string; secret?: string },
  authentication?: oidc.ClientAuth,
): Promise<oidc.Configuration> {
  // The option is marked as deprecated so that nobody leaves it in by mistake. The service listens without TLS here.
  const execute = [oidc.allowInsecureRequests];
  const issuer = new URL(service.app.services.issuer);
  const known =
    discovered.get(service) ?? oidc.discovery(issuer, client.id, undefined, undefined, { execute });
  discovered.set(service, known);
  const config = new oidc.Configuration(
    (await known).serverMetadata(),
    client.id,
    undefined,
    authentication ??
      (client.secret === undefined ? oidc.None() : oidc.ClientSecretBasic(client.secret)),
  );
  oidc.allowInsecureRequests(config);
  return config;
}

/** The parameters of an application's sign-in request. */
export interface SignInRequest {
  readonly client: { readonly id: string; readonly secret?: string };
  /** How the application authenticates; absent: by its secret, if it has one. */
  readonly authentication?: oidc.ClientAuth;
  readonly redirectUri: string;
  readonly username: string;
  readonly password: string;
  /** The resource of the access token; absent: user info. */
  readonly resource?: string;
  /** Default: `openid`. */
  readonly scope?: string;
  readonly browser?: Browser;
  /** Further parameters of the authorization request. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The key that the tokens are bound to. */
  readonly DPoP?: oidc.DPoPHandle | undefined;
}

/** Signs a user in on the real page with openid-client, and returns the tokens. */
export async function signIn(
  service: TestService,
  request: SignInRequest,
): Promise<oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers> {
  const config = await discover(service, request.client, request.authentication);
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const resource: Record<string, string> =
    request.resource === undefined ? {} : { resource: request.resource };
  const address = oidc.buildAuthorizationUrl(config, {
    redirect_uri: request.redirectUri,
    scope: request.scope ?? 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state,
    ...resource,
    ...request.parameters,
  });
  const browser = request.browser ?? openBrowser(service.app.services.baseUrl);
  let visit = await browser.open(address);
  if (visit.url.pathname.startsWith('/sign-in/')) {
    visit = await browser.submit(visit, {
      identifier: request.username,
      password: request.password,
    });
  }
  if (!visit.url.href.startsWith(request.redirectUri)) {
    throw new Error(`The sign-in ended at ${visit.url} (${visit.status}): ${visit.body}`);
  }
  return oidc.authorizationCodeGrant(
    config,
    visit.url,
    { pkceCodeVerifier, expectedState: state },
    resource,
    request.DPoP ? { DPoP: request.DPoP } : {},
  );
}
