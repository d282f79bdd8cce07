import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { rowsOf } from '../db/rows/rows.ts';
import { InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { Application, Prisma } from '../generated/prisma/client.ts';
import { idForQuery, newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { digestOf } from '../keys/digest.ts';
import { asksSecondFactor } from '../oidc/provider/assurance.ts';
import { findAuthorizationFault } from '../oidc/provider/headless.ts';
import { unfinishedShare } from '../oidc/provider/request-bounds.ts';
import { interactionTtlSeconds } from '../oidc/provider/storage/grant-lifetime.ts';
import { clientOf } from '../protection/addresses.ts';
import { registeredSpelling } from '../resources/spellings.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';

// RFC 6749 §3.3
const scope = text(2048).regex(
  /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
  'must be scopes separated by one space',
);

const input = z.object({
  clientId: text(128),
  redirectUri: text(2048),
  scope: scope.nullish().transform((given) => given ?? 'openid'),
  resource: text(2048).nullish(),
  // RFC 7636 §4.2: 256 bits in base64url.
  codeChallenge: text(128).regex(/^[\w-]{43}$/, 'must be an S256 code challenge'),
  state: text(2048).nullish(),
  nonce: text(512).nullish(),
  acrValues: text(512).nullish(),
  organizationId: text(128).nullish(),
});

/** The input of `startInteraction`. */
export type StartInput = z.input<typeof input>;

const storedRequest = input.omit({ clientId: true });

/** The request of a headless application: parameters of an authorization request (RFC 6749 §4.1.1, RFC 7636). */
export type HeadlessRequest = z.output<typeof storedRequest>;

/** The request of a headless interaction, as {@link startInteraction} has checked and stored it. */
export const headlessRequestOf = (request: Prisma.JsonValue): HeadlessRequest =>
  request as unknown as HeadlessRequest;

/**
 * Begins an interaction without a browser. A client address has a share of unfinished ones: a new one replaces the
 * oldest.
 *
 * @returns The access to it, and its token, which is not stored.
 * @throws {NotFoundError} of the application; {@link NotAllowedError} when the application may not do this; {@link
 * InvalidInputError} when the redirect URI, the resource or the organization is not allowed.
 */
export async function startInteraction(
  context: VisitContext,
  given: StartInput,
): Promise<{ access: InteractionAccess; token: string }> {
  const { clientId, ...asked } = parseInput(input, given);
  const application = await findApplication(context, clientId);
  const request = await withRegistered(context, asked);
  const fault = await findAuthorizationFault(context, application.id, request);
  if (fault) throw new InvalidInputError([fault]);
  const token = randomBytes(32).toString('base64url');
  const now = context.clock.now();
  const address = clientOf(context.ip);
  const { id } = await context.database.prisma.interaction.create({
    data: {
      id: newId('Interaction'),
      digest: digestOf(token),
      applicationId: application.id,
      request: request as Prisma.InputJsonObject,
      needsSecondFactor: asksSecondFactor(request.acrValues),
      address,
      createdAt: now,
      expiresAt: new Date(now.getTime() + interactionTtlSeconds * 1000),
    },
    select: { id: true },
  });
  await keepWithinShare(context, address);
  return { access: { id, applicationId: application.id, uid: null }, token };
}

/** A request with its resource in the registered spelling. */
const withRegistered = async (
  { database }: Pick<VisitContext, 'database'>,
  request: HeadlessRequest,
): Promise<HeadlessRequest> =>
  request.resource == null
    ? request
    : { ...request, resource: await registeredSpelling(database.tokens, request.resource) };

// As the adapter of oidc-provider does for browsers.
async function keepWithinShare(
  { database }: Pick<VisitContext, 'database'>,
  address: string,
): Promise<void> {
  await database.prisma.$executeRaw`
    DELETE FROM "Interaction" WHERE "id" = ANY (ARRAY(
      SELECT "id" FROM "Interaction" WHERE "address" = ${address}
       ORDER BY "createdAt" DESC, "id" DESC OFFSET ${unfinishedShare}))`;
}

async function findApplication(
  { database }: VisitContext,
  clientId: string,
): Promise<Pick<Application, 'id'>> {
  const id = idForQuery(clientId, 'Application');
  const applications = rowsOf<Application>(database, 'Application');
  const application = id === null ? null : await applications.findUnique({ where: { id } });
  if (!application) throw new NotFoundError(clientId);
  if (!application.allowHeadlessSignIn)
    throw new NotAllowedError('This application may not sign people in without a browser.');
  return application;
}
