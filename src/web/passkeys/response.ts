import { InvalidInputError, VerificationFailedError } from '../../errors.ts';
import type { PageRequest } from '../site.ts';

/** The response of the authenticator, which the page's script put into the form. */
export function responseOf({ form }: Pick<PageRequest, 'form'>): unknown {
  try {
    return JSON.parse(form.get('response') ?? '');
  } catch {
    return null;
  }
}

/** Turns a malformed response into a wrong one: a person can do nothing about either. */
export async function orFailed<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof InvalidInputError) throw new VerificationFailedError();
    throw error;
  }
}
