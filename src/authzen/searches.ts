import { openCursor, sealCursor } from '../graphql/lists/sealed-cursor.ts';
import { requestError } from '../graphql/request-error.ts';
import { readGrantedScopes, readIndicators } from '../permissions/granted.ts';
import { readHolders } from '../permissions/holders.ts';
import { targetOf } from '../permissions/target.ts';
import type { Services } from '../services.ts';
import {
  actionSearchBody,
  apiType,
  kindOfType,
  maxPageSize,
  type PageRequest,
  readBody,
  resourceSearchBody,
  subjectSearchBody,
} from './requests.ts';

/** A page of what a search found (§8.3). */
interface SearchAnswer {
  readonly page: { readonly next_token: string; readonly count: number };
  readonly results: readonly object[];
}

type Readers = Pick<Services, 'database' | 'clock' | 'cipher'>;

const defaultPageSize = 100;

/**
 * Reads one page of a search. Its token holds the position and the size of the page; it is of no use for another search.
 *
 * @param search What is searched for: the endpoint, and the entities of the request.
 * @param read Reads the keys of entries beyond a key, in their order.
 * @throws BAD_USER_INPUT when the token is none of this search, or the limit is another than that of the first page.
 */
async function readPage(
  { cipher }: Pick<Services, 'cipher'>,
  search: readonly unknown[],
  asked: PageRequest,
  read: (page: { after: string; limit: number }) => Promise<readonly string[]>,
): Promise<{ keys: readonly string[]; page: SearchAnswer['page'] }> {
  const list = `authzen ${JSON.stringify(search)}`;
  const start = asked?.token
    ? openCursor(cipher, list, asked.token, 'page.token')
    : `${asked?.limit ?? defaultPageSize} `;
  const [, kept, after = ''] = /^(\d+) (.*)$/s.exec(start) ?? [];
  const limit = Number(kept);
  if (asked?.limit !== undefined && asked.limit !== limit)
    throw requestError('BAD_USER_INPUT', '"page.limit" is another than that of the first page.');
  const size = Math.min(limit, maxPageSize);
  const found = await read({ after, limit: size + 1 });
  const keys = found.slice(0, size);
  const next = found.length > size ? `${limit} ${keys.at(-1) ?? after}` : undefined;
  const token = next === undefined ? '' : sealCursor(cipher, list, next);
  return { keys, page: { next_token: token, count: keys.length } };
}

const nothing: SearchAnswer = { page: { next_token: '', count: 0 }, results: [] };

/** Answers the Subject Search API: who may do something at an API. */
export async function answerSubjectSearch(readers: Readers, body: unknown): Promise<SearchAnswer> {
  const { subject, action, resource, context, page } = readBody(subjectSearchBody, body);
  const { type } = subject;
  const kind = kindOfType(type);
  if (!kind || resource.type !== apiType) return nothing;
  const target = targetOf(resource.id, context?.organization_id);
  const search = ['subject', kind, action.name, target];
  const found = await readPage(readers, search, page, ({ after, limit }) =>
    readHolders(readers, { target, scope: action.name, kinds: [kind] }, { after, limit }),
  );
  return { page: found.page, results: found.keys.map((id) => ({ type, id })) };
}

/** Answers the Action Search API: what somebody may do at an API. */
export async function answerActionSearch(readers: Readers, body: unknown): Promise<SearchAnswer> {
  const { subject, resource, context, page } = readBody(actionSearchBody, body);
  const kind = kindOfType(subject.type);
  if (!kind || resource.type !== apiType) return nothing;
  const asked = {
    kind,
    subjectId: subject.id,
    target: targetOf(resource.id, context?.organization_id),
  };
  const found = await readPage(readers, ['action', asked], page, async (names) =>
    (await readGrantedScopes(readers, asked, names)).map(({ name }) => name),
  );
  return { page: found.page, results: found.keys.map((name) => ({ name })) };
}

/** Answers the Resource Search API: at which APIs somebody may do something. */
export async function answerResourceSearch(readers: Readers, body: unknown): Promise<SearchAnswer> {
  const { subject, action, resource, context, page } = readBody(resourceSearchBody, body);
  const kind = kindOfType(subject.type);
  if (!kind || resource.type !== apiType) return nothing;
  const asked = {
    kind,
    subjectId: subject.id,
    organizationId: context?.organization_id,
    scope: action.name,
  };
  const found = await readPage(readers, ['resource', asked], page, (names) =>
    readIndicators(readers, asked, names),
  );
  return { page: found.page, results: found.keys.map((id) => ({ type: apiType, id })) };
}
