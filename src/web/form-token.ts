import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Services } from '../services.ts';
import { isOwnOrigin } from './own-origin.ts';

/**
 * The token of the forms that a page shows, against forgery by other sites.
 *
 * @param subject Names the session that the forms belong to.
 */
export const formTokenOf = ({ cipher }: Pick<Services, 'cipher'>, subject: string): string =>
  tokenWith(cipher.passingKeys('sign-in-form')[0], subject);

const tokenWith = (key: Buffer, subject: string) =>
  createHmac('sha256', key).update(subject).digest('base64url');

/**
 * Whether a form was sent from a page of this service, and belongs to this session.
 *
 * @param subject As for {@link formTokenOf}.
 */
export function isOwnForm(
  services: Pick<Services, 'baseUrl' | 'cipher'>,
  headers: IncomingHttpHeaders,
  form: URLSearchParams,
  subject: string,
): boolean {
  const sent = Buffer.from(form.get('csrf') ?? '');
  return (
    isOwnOrigin(services, headers, { isRequired: false }) &&
    services.cipher.passingKeys('sign-in-form').some((key) => {
      const expected = Buffer.from(tokenWith(key, subject));
      return sent.length === expected.length && timingSafeEqual(sent, expected);
    })
  );
}
