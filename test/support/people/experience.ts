import * as oidc from 'openid-client';
import type { Services } from '../../../src/services.ts';
import type { TestService } from '../service.ts';
import type { Browser } from './sign-in.ts';

/** The Experience API's answer to a mutation: the member of the union, with all selected fields. */
export interface StepResult {
  readonly __typename: string;
  // biome-ignore lint/suspicious/noExplicitAny: each result has fields of its own.
  readonly [field: string]: any;
}

/** An answer of the Experience API, or of the Account API, over HTTP. */
export interface GraphQLAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly data?: Record<string, StepResult> | null;
    readonly errors?: readonly {
      readonly message: string;
      readonly extensions: Record<string, unknown>;
    }[];
  };
}

/** Sends a document to the Experience API. */
export type Send = (document: string, variables?: object) => Promise<GraphQLAnswer>;

const toAnswer = async (response: Response): Promise<GraphQLAnswer> => ({
  status: response.status,
  headers: response.headers,
  body: (await response.json()) as GraphQLAnswer['body'],
});

/** Sends as a program does: with the interaction token, once it has one. */
export const asProgram =
  ({ url }: Pick<TestService, 'url'>, token?: string): Send =>
  async (query, variables = {}) =>
    toAnswer(
      await fetch(`${url}/experience/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Interaction ${token}` }),
        },
        body: JSON.stringify({ query, variables }),
      }),
    );

/** Sends as a script in the service's pages does: with the browser's cookies. */
export const asPage =
  (
    service: { readonly app: { readonly services: Pick<Services, 'baseUrl'> } },
    browser: Browser,
    headers: Record<string, string> = {},
  ): Send =>
  async (query, variables = {}) =>
    toAnswer(
      await browser.request(`${service.app.services.baseUrl}/experience/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-signet-experience': '1',
          origin: new URL(service.app.services.baseUrl).origin,
          'sec-fetch-site': 'same-origin',
          ...headers,
        },
        body: JSON.stringify({ query, variables }),
      }),
    );

const interactionFields =
  'interaction { id event nextSteps identifier missing application { name } factors { type } }';

const payloads: Record<string, string> = {
  StartInteraction: `${interactionFields} interactionToken`,
  SendCode: `${interactionFields} verification { id recipient expiresAt }`,
  SubmitInteraction: 'redirectTo',
  StartFederation: `${interactionFields} url`,
  EnrollTotp: `${interactionFields} secret uri qrCodeSvg`,
  CreateBackupCodes: `${interactionFields} codes`,
  StartPasskeyEnrollment: `${interactionFields} options`,
  StartPasskey: `${interactionFields} options`,
};

const failureFields: Record<string, string> = {
  LockedError: 'lockedUntil',
  RateLimitedError: 'retryAfterSeconds',
  PasswordRejectedError: 'reasons { code message }',
  InteractionExpiredError: 'restartUrl',
};

const failuresOf: Record<string, readonly string[]> = {
  SignInWithPassword: ['LockedError', 'InteractionExpiredError'],
  SendCode: ['InvalidInputError', 'RateLimitedError', 'InteractionExpiredError'],
  VerifyCode: ['LockedError', 'InteractionExpiredError'],
  RedeemOneTimeToken: ['LockedError', 'InteractionExpiredError'],
  Register: ['InvalidInputError', 'PasswordRejectedError', 'InteractionExpiredError'],
  ResetPassword: ['PasswordRejectedError', 'InteractionExpiredError'],
  VerifyTotp: ['LockedError', 'InteractionExpiredError'],
  VerifyBackupCode: ['LockedError', 'InteractionExpiredError'],
  SubmitInteraction: ['InteractionExpiredError'],
  ConfirmPasskey: ['InvalidInputError', 'InteractionExpiredError'],
  VerifyPasskey: ['InvalidInputError', 'LockedError', 'InteractionExpiredError'],
  StartInteraction: ['InvalidInputError'],
  StartFederation: ['InvalidInputError'],
  CompleteProfile: ['InvalidInputError'],
};

/** Does one step, and returns the member of its result union. */
export async function step(send: Send, name: string, input: object = {}): Promise<StepResult> {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const members = (failuresOf[type] ?? []).map((error) =>
    error === 'InvalidInputError'
      ? '... on InvalidInputError { issues { path message } }'
      : `... on ${error} { ${failureFields[error]} }`,
  );
  const { status, body } = await send(
    `mutation ($input: ${type}Input!) { ${name}(input: $input) { __typename ... on Error { code message }
       ${members.join(' ')} ... on ${type}Payload { ${payloads[type] ?? interactionFields} } } }`,
    { input },
  );
  const result = body.data?.[name];
  if (!result) throw new Error(`${name} answered ${status}: ${JSON.stringify(body.errors)}`);
  return result;
}

/** The interaction of the sender. */
export async function readInteraction(send: Send): Promise<StepResult | null> {
  const { status, body } = await send(`{ ${interactionFields} }`);
  if (!body.data) throw new Error(`interaction answered ${status}: ${JSON.stringify(body.errors)}`);
  return body.data['interaction'] ?? null;
}

/** A running headless sign-in: how to do its steps, and how to redeem its code. */
export interface Headless {
  readonly send: Send;
  readonly token: string;
  readonly verifier: string;
  readonly state: string;
  readonly started: StepResult;
}

/** Begins a headless sign-in as an application does. */
export async function startHeadless(
  service: Pick<TestService, 'url'>,
  {
    clientId,
    redirectUri,
    ...rest
  }: { clientId: string; redirectUri: string } & Record<string, unknown>,
): Promise<Headless> {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const started = await step(asProgram(service), 'startInteraction', {
    clientId,
    redirectUri,
    codeChallenge: await oidc.calculatePKCECodeChallenge(verifier),
    state,
    ...rest,
  });
  const token = String(started['interactionToken']);
  return { send: asProgram(service, token), token, verifier, state, started };
}
