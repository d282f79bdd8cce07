import type { Application } from '../../generated/prisma/client.ts';
import { ownIndicators } from '../scopes.ts';
import { coversEverything } from './setter-scopes.ts';

/**
 * Whether a person has to allow an application to get scopes of a resource. Third-party applications need that for
 * everything. Any application needs it for Signet's own APIs, unless its setter holds `all`: another setter could have
 * a code, and so an administrator's rights, sent where they like.
 */
export const needsConsent = (
  { isThirdParty, setterScopes }: Pick<Application, 'isThirdParty' | 'setterScopes'>,
  resource: string,
): boolean => isThirdParty || (ownIndicators.has(resource) && !coversEverything(setterScopes));
