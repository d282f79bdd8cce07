import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Services } from '../../services.ts';

/** The token of a form on an interaction's page, against forgery by other sites. */
export const formTokenOf = ({ cipher }: Pick<Services, 'cipher'>, uid: string): string =>
  createHmac('sha256', cipher.deriveKey('sign-in-form')).update(uid).digest('base64url');

/** Whether a form carries its interaction's token. */
export function hasFormToken(
  services: Pick<Services, 'cipher'>,
  uid: string,
  form: URLSearchParams,
): boolean {
  const sent = Buffer.from(form.get('csrf') ?? '');
  const expected = Buffer.from(formTokenOf(services, uid));
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}
