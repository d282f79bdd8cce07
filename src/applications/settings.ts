import { z } from 'zod';
import { signingAlgorithms } from '../config.ts';
import { type InputIssue, InvalidInputError, NotAllowedError } from '../errors.ts';
import { type Application, ApplicationType, SecurityProfile } from '../generated/prisma/client.ts';
import { composedText, distinct, fault, name, notNull, parseInput, text } from '../input.ts';
import { resourceIndicator } from '../resources/operations.ts';
import { faultsOfKeys, keySettings } from './keys.ts';
import { isConfidential } from './secret.ts';
import { faultsOfProfile, withProfile } from './security-profile.ts';

const uri = text(2048).refine(
  (value) => URL.canParse(value) && !value.includes('#'),
  fault('INVALID_FORMAT', 'must be an absolute URI without a fragment'),
);
const origin = text(2048).refine(
  (value) =>
    URL.canParse(value) &&
    /^https?:$/.test(new URL(value).protocol) &&
    new URL(value).origin === value,
  fault('INVALID_FORMAT', 'must be an origin, such as https://app.example.com'),
);
/** The most applications that one may act for. */
export const maxActedFor = 100;

/** The longest time in which a used refresh token may come again, in seconds. */
export const maxRefreshTokenReuseSeconds = 300;
const defaultRefreshTokenReuseSeconds = 30;
const reuseBounds = `must be a whole number from 0 to ${maxRefreshTokenReuseSeconds}`;

const settings = {
  description: composedText(1024).nullish(),
  allowTokenExchange: z.boolean().nullish(),
  exchangeSubjectAudiences: distinct(resourceIndicator, 100).nullish(),
  exchangeResources: distinct(resourceIndicator, 100).nullish(),
  exchangeThirdPartySubjectTokens: z.boolean().nullish(),
  allowImpersonation: z.boolean().nullish(),
  allowPersonalAccessTokens: z.boolean().nullish(),
  redirectUris: distinct(uri, 100).nullish(),
  postLogoutRedirectUris: distinct(uri, 100).nullish(),
  corsAllowedOrigins: distinct(origin, 100).nullish(),
  allowHeadlessSignIn: z.boolean().nullish(),
  allowDeviceGrant: z.boolean().nullish(),
  isThirdParty: z.boolean().nullish(),
  idTokenSigningAlg: z.enum(signingAlgorithms).nullish(),
  ...keySettings,
  requireDpop: z.boolean().nullish(),
  mayRebindTokens: z.boolean().nullish(),
  mayActFor: distinct(z.string(), maxActedFor).nullish(),
  requirePushedAuthorizationRequests: z.boolean().nullish(),
  requirePkce: z.boolean().nullish(),
  securityProfile: z.enum(SecurityProfile).nullish(),
  refreshTokenReuseSeconds: z
    .int(reuseBounds)
    .min(0, reuseBounds)
    .max(maxRefreshTokenReuseSeconds, reuseBounds)
    .nullish(),
};

/** The input of `createApplication`. */
export const createApplicationInput = z.object({
  name: name(),
  type: z.enum(ApplicationType),
  ...settings,
});

/** The input of `updateApplication`. */
export const updateApplicationInput = z.object({
  id: z.string(),
  name: notNull(name()),
  ...settings,
});

/**
 * Reads the input of `createApplication`.
 *
 * @throws {InvalidInputError} {@link NotAllowedError} as `createApplication` does.
 */
export function readNewApplication(input: unknown) {
  const { name, type, description, ...given } = parseInput(createApplicationInput, input);
  const values = { name, type, description: description ?? null, ...cleared(withProfile(given)) };
  assertConsistent(values);
  return values;
}

/** How people sign in to an application without a redirect URI. */
export const signInSwitches = ['allowHeadlessSignIn', 'allowDeviceGrant'] as const;

type Settings = Omit<z.output<typeof updateApplicationInput>, 'id' | 'name' | 'description'>;

/** The settings of an application as they are written. */
export type Cleared = ReturnType<typeof cleared>;

/** Reads what a change gives. Null clears: a list becomes empty, the switch goes off, a number is the default. */
export const cleared = (given: Settings) => ({
  allowTokenExchange: switched(given.allowTokenExchange),
  exchangeSubjectAudiences: emptied(given.exchangeSubjectAudiences),
  exchangeResources: emptied(given.exchangeResources),
  exchangeThirdPartySubjectTokens: switched(given.exchangeThirdPartySubjectTokens),
  allowImpersonation: switched(given.allowImpersonation),
  allowPersonalAccessTokens: switched(given.allowPersonalAccessTokens),
  redirectUris: emptied(given.redirectUris),
  postLogoutRedirectUris: emptied(given.postLogoutRedirectUris),
  corsAllowedOrigins: emptied(given.corsAllowedOrigins),
  allowHeadlessSignIn: switched(given.allowHeadlessSignIn),
  allowDeviceGrant: switched(given.allowDeviceGrant),
  isThirdParty: switched(given.isThirdParty),
  idTokenSigningAlg: given.idTokenSigningAlg,
  jwks: given.jwks,
  jwksUri: given.jwksUri,
  requireDpop: switched(given.requireDpop),
  mayRebindTokens: switched(given.mayRebindTokens),
  mayActFor: emptied(given.mayActFor),
  requirePushedAuthorizationRequests: switched(given.requirePushedAuthorizationRequests),
  securityProfile: given.securityProfile === null ? ('NONE' as const) : given.securityProfile,
  refreshTokenReuseSeconds:
    given.refreshTokenReuseSeconds === null
      ? defaultRefreshTokenReuseSeconds
      : given.refreshTokenReuseSeconds,
  allowSecrets: restored(given.allowSecrets),
  requirePkce: restored(given.requirePkce),
});
const switched = (isOn: boolean | null | undefined) => (isOn === null ? false : isOn);
// These are on by default.
const restored = (isOn: boolean | null | undefined) => (isOn === null ? true : isOn);
const emptied = (list: string[] | null | undefined) => (list === null ? [] : list);

/**
 * Checks that settings fit each other and the type.
 *
 * @throws {InvalidInputError} {@link NotAllowedError}
 */
export function assertConsistent(
  application: Pick<Application, 'type'> &
    Partial<Pick<Application, 'jwks' | 'idTokenSigningAlg'>> &
    Omit<Cleared, 'idTokenSigningAlg' | 'jwks'>,
): void {
  const { type } = application;
  const exchanges =
    application.allowTokenExchange ||
    application.exchangeThirdPartySubjectTokens ||
    application.allowImpersonation ||
    application.mayRebindTokens ||
    (application.mayActFor ?? []).length > 0 ||
    application.allowPersonalAccessTokens;
  if (exchanges && !isConfidential(type)) {
    throw new NotAllowedError(`Applications of type ${type} cannot exchange tokens.`);
  }
  const signsIn = signInSwitches.some((one) => application[one]);
  if (signsIn && type === 'MACHINE_TO_MACHINE') {
    throw new NotAllowedError(`Applications of type ${type} sign nobody in.`);
  }
  if (application.isThirdParty) {
    if (type === 'MACHINE_TO_MACHINE') {
      throw new NotAllowedError(`Applications of type ${type} act for nobody.`);
    }
    // Either would be a way around the person's consent.
    if (application.allowHeadlessSignIn || exchanges) {
      throw new NotAllowedError(
        'A third-party application may not exchange tokens, nor sign people in without a browser.',
      );
    }
  }
  const addresses = (['redirectUris', 'postLogoutRedirectUris'] as const).flatMap((field) =>
    (application[field] ?? []).flatMap((value, index) => {
      const message = faultOfRedirectUri(type, value);
      return message ? [{ path: [field, String(index)], message }] : [];
    }),
  );
  const broken = faultsOfProfile(application);
  const issues: InputIssue[] = [
    ...addresses,
    ...faultsOfPkce(application),
    ...(broken.length > 0 ? broken : faultsOfKeys(application)),
  ];
  if (issues.length > 0) throw new InvalidInputError(issues);
}

/** Without PKCE, a code is protected by the application's secret alone, and a sign-in by `nonce` or `state`. */
const faultsOfPkce = ({
  type,
  requirePkce,
}: Pick<Application, 'type'> & Partial<Pick<Application, 'requirePkce'>>): InputIssue[] =>
  requirePkce === false && type !== 'TRADITIONAL'
    ? [{ path: ['requirePkce'], message: `must be on for type ${type}` }]
    : [];

/** Nobody vouches for what registered itself, so people are asked; and a document says itself what it describes. */
export function assertOwnDescription(
  { origin }: Application,
  patch: { readonly [Field in 'isThirdParty' | (typeof described)[number]]?: unknown },
): void {
  if (origin === 'ADMINISTRATION') return;
  if (patch.isThirdParty === false)
    throw new NotAllowedError('An application that registered itself stays a third party’s.');
  if (origin === 'METADATA_DOCUMENT' && described.some((field) => patch[field] !== undefined))
    throw new NotAllowedError('The application’s metadata document says this.');
}

/** What a metadata document describes. */
const described = ['name', 'redirectUris', 'postLogoutRedirectUris'] as const;

/** Why an application of this type cannot have a redirect URI; undefined if it can. */
export function faultOfRedirectUri(type: Application['type'], value: string): string | undefined {
  const { protocol } = new URL(value);
  if (type === 'MACHINE_TO_MACHINE') return 'must be empty: nobody signs in there';
  if (protocol === 'https:' || protocol === 'http:') return undefined;
  if (type !== 'NATIVE') return 'must be an http or https URL';
  // A private-use scheme is a reversed domain name (RFC 8252 §7.1).
  return protocol.includes('.')
    ? undefined
    : 'must be an http or https URL, or begin with a private-use scheme such as com.example.app:';
}
