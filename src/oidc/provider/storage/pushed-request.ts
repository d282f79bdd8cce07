import { decodeJwt, UnsecuredJWT } from 'jose';
import { type AdapterPayload, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { type Clock, toNumericDate } from '../../../clock.ts';
import { isPublicClient } from './clients.ts';
import { interactionTtlSeconds } from './grant-lifetime.ts';

/** The library's name of an authorization request that was pushed (RFC 9126). */
const model = 'PushedAuthorizationRequest';

/**
 * How long a record is kept, in seconds. A sign-in goes on after its request can begin none any more, and must still
 * learn that another one was faster.
 */
export const keptSeconds = (of: string, expiresInSeconds: number): number =>
  of === model ? expiresInSeconds + interactionTtlSeconds : expiresInSeconds;

/**
 * A record as it is stored. The library wraps a pushed request in an unsigned JWT, and would check the times in it by
 * the machine's clock; the record has the same times, by the service's.
 */
export function withoutInnerTimes<Payload extends AdapterPayload>(
  of: string,
  payload: Payload,
): Payload {
  if (of !== model || typeof payload['request'] !== 'string') return payload;
  const { iat: _iat, nbf: _nbf, exp: _exp, ...claims } = decodeJwt(payload['request']);
  return { ...payload, request: new UnsecuredJWT(claims).encode() };
}

/** Whether a record can no longer be used for this request, though it is kept. */
export const isTooLate = (
  of: string,
  { exp = 0 }: Pick<AdapterPayload, 'exp'>,
  ctx: KoaContextWithOIDC | undefined,
  clock: Clock,
): boolean =>
  of === model && ctx?.oidc.route === 'authorization' && exp <= toNumericDate(clock.now());

/** Whether a request was pushed by somebody who did not authenticate. */
export const isPushedByAnybody = (of: string, ctx: KoaContextWithOIDC | undefined): boolean =>
  of === model && ctx?.oidc.client !== undefined && isPublicClient(ctx.oidc.client);

/** The refusal of a second use at the same time. */
export const usedMeanwhile = (of: string): Error =>
  of === model
    ? new errors.InvalidRequestUri('request_uri was used at the same time')
    : new errors.InvalidGrant('consumed at the same time by another request');
