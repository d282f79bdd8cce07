import * as oidc from 'openid-client';
import type { TestService } from '../service.ts';
import { asPage, type Send, type StepResult, startHeadless, step } from './experience.ts';
import { type ProviderButton, passThrough } from './federation.ts';
import { discover, openBrowser } from './sign-in.ts';
import { authorize, redirectUri } from './sign-in-fixture.ts';

/** The result of a step: `OK`, or the code of the refusal. */
export interface Outcome {
  readonly code: string;
  // biome-ignore lint/suspicious/noExplicitAny: each refusal has fields of its own.
  readonly [field: string]: any;
}

/** An address that a code goes to. */
type Address = { readonly email: string } | { readonly phone: string };

/** A person during a sign-in, and the person's possible actions, by any driver. */
export interface Person {
  signInWithPassword(identifier: string, password: string): Promise<Outcome>;
  sendCode(purpose: 'SIGN_IN' | 'REGISTER' | 'RESET_PASSWORD', address: Address): Promise<Outcome>;
  /** Enters a code that the last {@link sendCode} sent. */
  verifyCode(code: string): Promise<Outcome>;
  redeemOneTimeToken(email: string, token: string): Promise<Outcome>;
  register(fields: { username?: string; password?: string }): Promise<Outcome>;
  resetPassword(password: string): Promise<Outcome>;
  /** Goes to an identity provider that asks nothing, and comes back. */
  federate(provider: ProviderButton): Promise<Outcome>;
  /** Begins to add an authenticator app, and returns the secret that it scans. */
  enrollTotp(): Promise<string>;
  confirmTotp(code: string): Promise<Outcome>;
  verifyTotp(code: string): Promise<Outcome>;
  /** Returns to the application, which redeems the code. */
  submit(): Promise<oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers>;
}

/** A way to sign in. The same actions raise the same events in each. */
export interface Driver {
  readonly name: string;
  /** Begins a sign-in at an application. */
  start(service: TestService, client: { id: string; secret?: string }): Promise<Person>;
}

interface Redeemable {
  readonly verifier: string;
  readonly state: string;
}

/** Does the steps by the Experience API. */
function personOf(
  send: Send,
  comeBack: (callback: string) => Promise<URL | undefined>,
  goOn: (redirectTo: string) => Promise<URL>,
  redeem: (url: URL) => ReturnType<Person['submit']>,
): Person {
  let verificationId = '';
  let arrived: URL | undefined;
  const take = async (name: string, input: object = {}): Promise<Outcome & StepResult> => {
    const { code, ...result } = await step(send, name, input);
    return { ...result, code: code ?? 'OK', __typename: result['__typename'] as string };
  };
  return {
    signInWithPassword: (identifier, password) =>
      take('signInWithPassword', { identifier, password }),
    async sendCode(purpose, address) {
      const sent = await take('sendCode', { purpose, ...address });
      verificationId = sent['verification']?.id ?? verificationId;
      return sent;
    },
    verifyCode: (code) => take('verifyCode', { verificationId, code }),
    redeemOneTimeToken: (email, token) => take('redeemOneTimeToken', { email, token }),
    register: (fields) => take('register', fields),
    resetPassword: (password) => take('resetPassword', { password }),
    async federate({ id }) {
      const { url, ...started } = await take('startFederation', { identityProviderId: id });
      if (url) arrived = await comeBack(await passThrough(url));
      return started;
    },
    async enrollTotp() {
      const { secret, ...refused } = await take('enrollTotp');
      if (!secret) throw new Error(`Nothing to scan: ${JSON.stringify(refused)}`);
      return secret;
    },
    confirmTotp: (code) => take('confirmTotp', { code }),
    verifyTotp: (code) => take('verifyTotp', { code }),
    async submit() {
      // The pages led a browser that came back to the application at once.
      if (arrived) return redeem(arrived);
      const { redirectTo, ...refused } = await take('submitInteraction');
      if (!redirectTo) throw new Error(`Nothing to go on to: ${JSON.stringify(refused)}`);
      return redeem(await goOn(redirectTo));
    },
  };
}

/** Redeems the code that an application was sent. */
export const redeemer =
  (
    service: TestService,
    client: { id: string; secret?: string },
    { verifier, state }: Redeemable,
  ) =>
  async (url: URL) => {
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    return oidc.authorizationCodeGrant(await discover(service, client), url, checks);
  };

/** By the Experience API, without a browser. */
export const headlessDriver: Driver = {
  name: 'headless',
  async start(service, client) {
    const headless = await startHeadless(service, { clientId: client.id, redirectUri });
    const redeem = redeemer(service, client, headless);
    const comeBack = async (callback: string) => {
      const browser = openBrowser(service.app.services.baseUrl);
      await browser.submit(await browser.open(callback), {});
      return undefined;
    };
    return personOf(headless.send, comeBack, async (redirectTo) => new URL(redirectTo), redeem);
  },
};

/** By the Experience API, from a page in the browser of a sign-in. */
export const cookieDriver: Driver = {
  name: 'API by cookie',
  async start(service, client) {
    const state = oidc.randomState();
    const { url, verifier } = await authorize(service, client, { state });
    const browser = openBrowser(service.app.services.baseUrl);
    await browser.open(url);
    const goOn = async (redirectTo: string) => (await browser.open(redirectTo)).url;
    const comeBack = async (callback: string) => (await browser.open(callback)).url;
    const redeem = redeemer(service, client, { verifier, state });
    return personOf(asPage(service, browser), comeBack, goOn, redeem);
  },
};
