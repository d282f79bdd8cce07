// The parameters of an authorization or sign-out request are stored until it ends, so their size is limited.

/** The longest query of an authorization or sign-out request, in characters. */
export const maxQueryLength = 8 * 1024;

/** The longest value of one of its parameters, in characters. */
export const maxParameterLength = 2 * 1024;

// An id token may be longer. It is read and not stored.
const unbounded = new Set(['id_token_hint']);

/** Why the query of a URL is refused; undefined if it is accepted. */
export function faultOfQuery(url: string): string | undefined {
  const query = url.slice(url.indexOf('?') + 1);
  if (query === url) return undefined;
  // The query is stored as JSON, and PostgreSQL's JSON cannot hold a NUL character.
  if (/%00|\0/.test(query)) return 'the query holds a NUL character';
  if (query.length > maxQueryLength) return `the query has more than ${maxQueryLength} characters`;
  for (const [name, value] of new URLSearchParams(query)) {
    if (value.length > maxParameterLength && !unbounded.has(name)) {
      return `the parameter ${name.slice(0, 64)} has more than ${maxParameterLength} characters`;
    }
  }
  return undefined;
}

/** The most unfinished sign-ins stored for one address; new ones replace the oldest. */
export const unfinishedShare = 500;
