import { expect } from 'vitest';
import { kindOfId } from '../../src/ids.ts';
import { restRoutes } from '../../src/rest/routes.ts';
import { accountSchema, schema } from '../../src/schema.ts';
import { connectionsOf, hostileCursor } from './drawing/cursors.ts';
import { fuzz, pick, rarely } from './drawing/fuzz.ts';
import { graphqlRequest, headerText, type Request } from './send.ts';
import { createWorld } from './world.ts';

const { admin, account, ask, ids: readIds } = await createWorld();
const ids = await readIds();

const doors = [
  { path: '/graphql', token: admin, connections: connectionsOf(schema) },
  { path: '/account/graphql', token: account, connections: connectionsOf(accountSchema) },
];

const page = { first: 3, last: null, after: null, before: null };

/** A cursor of every list that has an entry. */
const known = await (async () => {
  const found = new Set<string>();
  for (const { path, token, connections } of doors) {
    for (const { documents } of connections) {
      for (const query of documents) {
        const variables = query.includes('$id') ? { ...page, id: pickable(query) } : page;
        const { text } = await ask(graphqlRequest(path, { query, variables }, token));
        for (const [, cursor] of text.matchAll(/"cursor":"([^"]+)"/g)) found.add(String(cursor));
      }
    }
  }
  expect(found.size).toBeGreaterThan(20);
  return [...found];
})();

/** An id of a record that a document asks for, by the prefix that ids of its type have. */
function pickable(query: string): string {
  const [, type = ''] = /\.\.\. on (\w+)/.exec(query) ?? [];
  return ids.find((id) => kindOfId(id) === type) ?? ids[0] ?? '';
}

fuzz('a cursor leads into its list or is refused', 150, async (g) => {
  const { path, token, connections } = pick(g, doors);
  const query = pick(g, pick(g, connections).documents);
  const variables = {
    ...(rarely(g, 3) ? { last: pick(g, [1, 0, 100, -1]) } : { first: pick(g, [1, 0, 100, 101]) }),
    after: hostileCursor(g, known),
    ...(rarely(g, 3) ? { before: hostileCursor(g, known) } : {}),
    ...(query.includes('$id') ? { id: pickable(query) } : {}),
  };
  await ask(graphqlRequest(path, { query, variables }, token));
});

const lists = restRoutes.filter(({ method }) => method === 'GET');

fuzz('a cursor of a REST list leads into it or is refused', 100, async (g) => {
  const path = pick(g, lists).path.replaceAll(/:\w+/g, () => pick(g, ids));
  const query = new URLSearchParams({
    [pick(g, ['after', 'before'])]: hostileCursor(g, known),
    [pick(g, ['first', 'last'])]: pick(g, ['1', '-1', '1e9', 'x']),
  });
  const request: Request = {
    method: 'GET',
    path: `/api${path}?${query}`,
    headers: { authorization: headerText(`Bearer ${admin}`) },
  };
  if (request.path.length < 12_000) await ask(request);
});
