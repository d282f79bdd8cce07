import type { InputIssue } from '../errors.ts';
import type { Application, SecurityProfile } from '../generated/prisma/client.ts';
import { publicKeysOf } from '../keys/public-keys.ts';
import { hasKeys } from './keys.ts';
import { isConfidential } from './secret.ts';

// FAPI 2.0 Security Profile §5.4.1.
const fapiAlgorithms = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** Whether a client with this security profile may sign by an algorithm, or get what is signed by it. */
export const allows = (profile: SecurityProfile | null, algorithm: string): boolean =>
  profile !== 'FAPI_2_0' || fapiAlgorithms.includes(algorithm);

// Their requests come by no browser, so nobody pushes them.
const withoutPush = { allowHeadlessSignIn: false, allowDeviceGrant: false } as const;
const unpushed = ['allowHeadlessSignIn', 'allowDeviceGrant'] as const;

/** What the FAPI 2.0 security profile sets, where it is absent. */
const fapiSettings = {
  allowSecrets: false,
  requireDpop: true,
  requirePushedAuthorizationRequests: true,
  requirePkce: true,
  ...withoutPush,
  idTokenSigningAlg: 'ES256',
} as const;

type Settings = {
  readonly [Field in keyof typeof fapiSettings]?: Application[Field] | null | undefined;
} & { readonly securityProfile?: SecurityProfile | null | undefined };

/** The settings of an application with those that its security profile sets where they are absent. */
export const withProfile = <Given extends Settings>(given: Given): Given =>
  given.securityProfile === 'FAPI_2_0'
    ? {
        ...given,
        ...Object.fromEntries(
          Object.entries(fapiSettings).filter(([field]) => given[field as keyof Settings] == null),
        ),
      }
    : given;

/** The faults of an application that breaks its security profile, once a change is applied. */
export function faultsOfProfile(
  application: Settings &
    Partial<Pick<Application, 'jwks' | 'jwksUri'>> &
    Pick<Application, 'type'>,
): InputIssue[] {
  const { type, jwks, idTokenSigningAlg, ...settings } = application;
  if (settings.securityProfile !== 'FAPI_2_0') {
    return unpushed
      .filter((field) => settings.requirePushedAuthorizationRequests && settings[field])
      .map((field) => ({ path: [field], message: 'must be off: its requests are to be pushed' }));
  }
  const issue = (field: string, message: string): InputIssue => ({
    path: [field],
    message: `${message}, by securityProfile`,
  });
  const fixed = [
    'allowSecrets',
    'requireDpop',
    'requirePushedAuthorizationRequests',
    'requirePkce',
  ] as const;
  const wrong = [...fixed, ...unpushed].filter(
    (field) => (settings[field] ?? fapiSettings[field]) !== fapiSettings[field],
  );
  const isKeyUnfit = publicKeysOf(jwks).some(
    ({ algorithms }) => !algorithms.some((algorithm) => allows('FAPI_2_0', algorithm)),
  );
  return [
    ...(isConfidential(type) ? [] : [issue('securityProfile', `must be NONE for type ${type}`)]),
    ...(hasKeys(application) ? [] : [issue('jwks', 'must be given, or jwksUri')]),
    ...wrong.map((field) => issue(field, `must be ${fapiSettings[field]}`)),
    ...(isKeyUnfit ? [issue('jwks', `must hold keys for ${fapiAlgorithms.join(', ')}`)] : []),
    ...(idTokenSigningAlg != null && !allows('FAPI_2_0', idTokenSigningAlg)
      ? [issue('idTokenSigningAlg', `must be one of ${fapiAlgorithms.join(', ')}`)]
      : []),
  ];
}
