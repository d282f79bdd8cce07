import type { FastifyRequest } from 'fastify';
import { allows } from '../../../applications/security-profile.ts';
import { lifetime, newJti, signAccessToken } from '../../../auth/access-token.ts';
import { covers, everything, type SetterScopes } from '../../../auth/granting/setter-scopes.ts';
import { areSpellings } from '../../../auth/indicators.ts';
import { indicatorNamedBy } from '../../../auth/protected-resource.ts';
import { ownIndicators } from '../../../auth/scopes.ts';
import { useOnce } from '../../../auth/used-once.ts';
import { targetOf } from '../../../permissions/target.ts';
import type { Services } from '../../../services.ts';
import { assertCredentials, type ClientCredentials } from '../client-authentication.ts';
import type { TokenRequestFacts } from '../explanation/refused.ts';
import type { Form } from '../form.ts';
import { readClientState, readSubjectState } from '../grant-state.ts';
import { type ForeignJwt, readForeignJwt, rememberedUntil } from '../keys/foreign-jwt.ts';
import { bindingTo, proveKey } from '../keys/token-proof.ts';
import {
  InvalidClient,
  InvalidGrant,
  InvalidRequest,
  InvalidTarget,
  UnauthorizedClient,
} from '../oauth-errors.ts';
import type { TokenResponse } from '../response.ts';
import { asRegistered, assertScopes, assertTarget, parseScope, readScopes } from '../target.ts';
import { findIssuers, type KnownIssuer } from './issuers.ts';
import { assertPerson } from './person.ts';
import { fitsRules, kindOfAssertion, verifyAssertion } from './verify.ts';

/**
 * Issues an access token for an assertion of a trusted issuer (RFC 7523 §2.1). A workload's gets a token of the
 * application itself, without a secret; an identity's gets one of the linked user, for an application that authenticates.
 *
 * @throws {OAuthError} in the order of `endpoint.ts`.
 * @see RFC 7521 §4.1, draft-ietf-oauth-identity-assertion-authz-grant §4.4
 */
export async function grantByAssertion(
  services: Services,
  form: Form,
  credentials: ClientCredentials,
  facts: TokenRequestFacts,
  request: FastifyRequest,
): Promise<TokenResponse> {
  const { keys, issuer, database, clock } = services;
  const at = clock.now();
  const assertion = readForeignJwt(form.get('assertion'));
  const kind = assertion && kindOfAssertion(assertion);
  const named = targetOf(
    readResource(services, form, kind === 'IDENTITY' ? assertion : undefined),
    form.find('organization_id'),
  );
  facts.resource = named.indicator;
  const asked = readAskedScopes(form, kind === 'IDENTITY' ? assertion : undefined);
  const presents = presentsCredentials(request, form);
  const namedClient = presents ? credentials.clientId : form.find('client_id');
  const fitting = await findFitting(services, assertion, kind, namedClient);
  const chosen = fitting[0];
  const clientId = presents ? credentials.clientId : (chosen?.applicationId ?? namedClient ?? '');
  const question = { clientId, at, target: named, scopes: asked ?? [] };
  const claims = { sub: chosen?.userId, client_id: clientId };
  // Of a user, if it is about one: who has the token of a workload is the application.
  const subjectState =
    kind === 'IDENTITY' ? await readSubjectState(database.tokens, question, claims) : undefined;
  const state = subjectState ?? (await readClientState(database.tokens, question));
  const target = asRegistered(named, state);
  facts.resource = target.indicator;
  if (state.type !== null) facts.applicationId = clientId;
  // A workload has nothing to authenticate with; what it shows all the same has to be right.
  const secretScopes = presents
    ? await assertCredentials(services, credentials, state)
    : everything;
  if (!assertion || !chosen)
    throw new InvalidGrant('assertion is refused: it is not one that this service trusts');
  if (fitting.some(({ applicationId }) => applicationId !== chosen.applicationId))
    throw new InvalidGrant('assertion fits several applications: client_id must name one');
  if (kind === 'IDENTITY' && !presents) throw new InvalidClient();
  if (kind === 'WORKLOAD' && state.type !== 'MACHINE_TO_MACHINE')
    throw new UnauthorizedClient('workload assertions are not for this application');
  if (kind === 'WORKLOAD' && state.securityProfile === 'FAPI_2_0')
    throw new UnauthorizedClient('the application authenticates by its own keys alone');
  if (!allows(state.securityProfile, assertion.header.alg))
    throw new InvalidGrant('assertion is refused: its algorithm is not for this application');
  const key = await proveKey(services, request, '/token', {
    isRequired: state.requireDpop,
    profile: state.securityProfile,
  });
  const trusted = await verifyByOne(services, assertion, fitting, key);
  const person =
    subjectState &&
    (await assertPerson(services, assertion, { trusted, state: subjectState, target }));
  facts.userId = person?.userId ?? null;
  const ttlSeconds = assertTarget(target, state);
  assertScopes(asked);
  await useUp(services, assertion, trusted);

  const setters = [trusted.setterScopes, secretScopes, ...(person?.setters ?? [])];
  const scope = (person?.scopes ?? state.scopes)
    .filter((name) => isOpened(target.indicator, name, setters))
    .join(' ');
  const { iat, exp, expiresIn } = lifetime({ now: () => at }, ttlSeconds);
  const { claim, tokenType } = bindingTo(key);
  const issued = await signAccessToken(
    keys,
    {
      iss: issuer,
      sub: person?.userId ?? clientId,
      aud: target.indicator,
      client_id: clientId,
      scope,
      iat,
      exp,
      jti: newJti(at),
      // Deleting the issuer ends the token. It comes first: see boundsOf.
      lineage: [trusted.id, ...(person?.lineage ?? [])],
      ...claim,
      ...(target.organizationId === undefined ? {} : { organization_id: target.organizationId }),
    },
    state,
  );
  return { access_token: issued, token_type: tokenType, expires_in: expiresIn, scope };
}

const presentsCredentials = (request: FastifyRequest, form: Form): boolean =>
  request.headers.authorization !== undefined ||
  form.find('client_secret') !== undefined ||
  form.find('client_assertion') !== undefined;

/** Whether all setters held a scope; it matters of Signet's own APIs alone. */
const isOpened = (indicator: string, name: string, setters: readonly SetterScopes[]): boolean =>
  !ownIndicators.has(indicator) || setters.every((setterScopes) => covers(setterScopes, [name]));

/**
 * The resource of a request. An identity assertion may name it in place of the request, and a request none beside it.
 *
 * @throws {InvalidRequest} without one. {@link InvalidTarget} when it is not the assertion's.
 */
function readResource(services: Services, form: Form, identity: ForeignJwt | undefined): string {
  const named = [identity?.claims['resource'] ?? []]
    .flat()
    .map((one) => indicatorNamedBy(services, String(one)));
  const asked = form.find('resource') === undefined ? undefined : form.getResource();
  const isNamed = (resource: string) => named.some((one) => areSpellings(one, resource));
  if (asked !== undefined && named.length > 0 && !isNamed(asked))
    throw new InvalidTarget('resource is not one that the assertion is for');
  if (asked === undefined && named.length > 1)
    throw new InvalidTarget('the assertion is for several resources: resource must name one');
  const resource = asked ?? named[0];
  if (resource === undefined) throw new InvalidRequest('resource is missing');
  return resource;
}

/** The requested scopes, each once: of those that an identity assertion allows, or all of them. */
function readAskedScopes(form: Form, identity: ForeignJwt | undefined): string[] | undefined {
  const asked = readScopes(form);
  const scope = identity?.claims['scope'];
  if (scope === undefined || asked === undefined) return asked;
  if (typeof scope !== 'string') return [];
  const allowed = parseScope(scope) ?? [];
  return form.find('scope') === undefined
    ? allowed
    : asked.filter((name) => allowed.includes(name));
}

/** The trusted issuers whose assertion it would be, if it is genuine; none of them is proved. */
async function findFitting(
  { database }: Services,
  assertion: ForeignJwt | undefined,
  kind: KnownIssuer['kind'] | undefined,
  named: string | undefined,
): Promise<KnownIssuer[]> {
  if (!assertion || !kind) return [];
  const isOf = (clientId: unknown, { applicationId, metadataUrl }: KnownIssuer) =>
    clientId === applicationId || (metadataUrl !== null && clientId === metadataUrl);
  return (await findIssuers(database.tokens, assertion.claims)).filter(
    (one) =>
      one.kind === kind &&
      (named === undefined || isOf(named, one)) &&
      (kind === 'WORKLOAD' || isOf(assertion.claims['client_id'], one)) &&
      fitsRules(assertion, one),
  );
}

// Of several that it fits, in the order in which they were set up: each may have to be asked for its keys.
const maxTried = 10;

/** Verifies an assertion by the first of several issuers that it is of. */
async function verifyByOne(
  services: Services,
  assertion: ForeignJwt,
  issuers: readonly KnownIssuer[],
  provenKey: string | undefined,
): Promise<KnownIssuer> {
  let refusal: InvalidGrant | undefined;
  for (const issuer of issuers.slice(0, maxTried)) {
    try {
      await verifyAssertion(services, assertion, issuer, provenKey);
      return issuer;
    } catch (error) {
      if (!(error instanceof InvalidGrant)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? new InvalidGrant('assertion is refused');
}

/** Uses an assertion up, once nothing else can refuse it. One without `jti` counts until it expires. */
async function useUp(
  { database, clock }: Services,
  { claims: { jti, exp = 0 } }: ForeignJwt,
  { issuer, jwksUri }: KnownIssuer,
): Promise<void> {
  if (jti === undefined) return;
  const isFirst = await useOnce(database.tokens, {
    // By its keys too: whoever sets up another issuer of this name cannot use up this one's.
    what: ['assertion', issuer, jwksUri, jti],
    expiresAt: rememberedUntil(exp),
    at: clock.now(),
  });
  if (!isFirst) throw new InvalidGrant('assertion is refused: it was used before');
}
