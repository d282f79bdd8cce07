import { createHmac, timingSafeEqual } from 'node:crypto';
import { isSortable, sorted } from '../graphql/mutations/once.ts';
import { requestError } from '../graphql/request-error.ts';
import type { Actor, Services } from '../services.ts';

/** A mutation, and who asks for it. */
interface Asked {
  readonly actor: Actor;
  readonly document: string;
  readonly variables: object;
}

/**
 * The digest of a mutation that was tried, for its caller alone. It is keyed, so that only a dry run gives one. The order
 * of fields in the variables does not count.
 *
 * @throws BAD_USER_INPUT for variables that are nested too deeply.
 */
export const digestOfTrial = ({ cipher }: Pick<Services, 'cipher'>, asked: Asked): string =>
  digestWith(cipher.passingKeys('trial')[0], asked);

/** Whether the digest is the one of this mutation and this caller. */
export const isDigestOfTrial = (
  { cipher }: Pick<Services, 'cipher'>,
  digest: string,
  asked: Asked,
): boolean => {
  const given = Buffer.from(digest);
  return cipher.passingKeys('trial').some((key) => {
    const own = Buffer.from(digestWith(key, asked));
    return own.length === given.length && timingSafeEqual(own, given);
  });
};

function digestWith(key: Buffer, { actor, document, variables }: Asked): string {
  if (!isSortable(variables)) {
    throw requestError('BAD_USER_INPUT', 'The variables are nested too deeply.');
  }
  const asked = [actor.type, actor.id, actor.clientId, document, sorted(variables)];
  return createHmac('sha256', key).update(JSON.stringify(asked)).digest('base64url');
}
