import type { Context } from '../../services.ts';
import { allows, commonScopes, type ManagementScope } from '../scopes.ts';
import { noteAsked } from './asked.ts';

/** Who gives rights: a caller, within the scopes of its token; or Signet itself, as at startup or during a sign-in. */
export type Granter = Pick<Context, 'caller'>;

/**
 * What the setter of something held: the scopes of the management API of whoever set it up, at that time. It gives and
 * opens no more than these, however much the rights of others grow later. Rows keep them in a column of this name; a
 * row without them gives nothing.
 */
export type SetterScopes = readonly string[];

/** How the field `setterScopes` is described. */
export const setterScopesDescription =
  'The scopes of the management API that were held by whoever set this up. It gives no rights beyond them. A change by a caller with `all` renews them.';

/** The setter scopes of Signet itself, and of callers with `all`. */
export const everything: SetterScopes = ['all'];

/** Whether nothing bounds the rights that a caller can give: it holds `all`, or is Signet itself. */
export const mayDoEverything = ({ caller }: Granter): boolean =>
  caller == null || caller.scopes.has('all');

/** The scopes of the management API that a caller holds. */
export const heldBy = ({ caller }: Granter): string[] =>
  mayDoEverything({ caller }) ? [...everything] : [...(caller?.scopes ?? [])].sort();

/** The setter scopes to keep with what a caller sets up. */
export function setterScopesOf(granter: Granter): string[] {
  noteAsked('LATER');
  return heldBy(granter);
}

/** Whether setter scopes limit nothing. */
export const coversEverything = (setterScopes: SetterScopes): boolean =>
  setterScopes.includes('all');

/** Whether setter scopes allow all of these scopes. */
export const covers = (setterScopes: SetterScopes, names: Iterable<string>): boolean => {
  const held = new Set(setterScopes);
  return [...names].every((name) => allows(held, name as ManagementScope));
};

/**
 * The scopes that all these setters held. For what several of them set up together: a domain whose people join, and the
 * roles that they get.
 */
export const inCommon = (first: SetterScopes, ...others: readonly SetterScopes[]): string[] =>
  others
    .reduce<string[]>((some, other) => commonScopes(new Set(some), new Set(other)), [...first])
    .sort();

/** The setter scopes after a change: no more than before, and no more than the caller holds. */
export const boundBy = (granter: Granter, before: SetterScopes): string[] =>
  inCommon(before, setterScopesOf(granter));

/** Like {@link boundBy}, but a caller with `all` renews them. */
export const renewedBy = (granter: Granter, before: SetterScopes): string[] =>
  mayDoEverything(granter) ? setterScopesOf(granter) : boundBy(granter, before);

/**
 * The SQL condition that a setter's scopes allow a scope of the management API.
 *
 * @param setterScopes A column.
 * @param name A column or an expression.
 */
export const coversInSql = (setterScopes: string, name: string): string =>
  `${setterScopes} && ARRAY['all', ${name}, replace(${name}, ':read', ':write')]`;
