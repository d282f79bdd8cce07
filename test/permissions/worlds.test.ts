import { expect } from 'vitest';
import { fuzz } from '../fuzz/drawing/fuzz.ts';
import { basic } from '../support/client-credentials.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import {
  everyoneWhoCan,
  permissionsOf,
  postAccess,
  searchAll,
  whoCan,
} from '../support/permissions/client.ts';
import { createWorld, type World, worldShape } from '../support/permissions/world.ts';
import { startService } from '../support/service.ts';
import { exchange, formOf, postToken, type TokenAnswer, userToken } from '../support/tokens.ts';

// The proxy in front names the client's address: an address that fails a hundred times is shut out.
const service = await startService({ TRUST_PROXY: '1' });
const { clock, testDatabase } = service;
const directory = seedDirectory(testDatabase.database, clock);
const token = await service.managementToken('all');
const asker = await service.managementToken('permissions:read');
const frontend = await directory.createClient({ type: 'SPA' });

/** A question about one subject: what would it get in a token there? */
interface Question {
  readonly type: 'user' | 'application';
  readonly id: string;
  readonly resource: string;
  readonly organizationId: string | undefined;
}

/** The scopes of a token that is issued now. */
type Issue = (question: Question, scopes: readonly string[]) => Promise<string[]>;

let requests = 0;
const elsewhere = () => {
  requests += 1;
  return { 'x-forwarded-for': `2001:db8:${requests.toString(16)}::1` };
};

function scopesIn({ status, body }: TokenAnswer): string[] {
  if (status === 200) return String(body['scope']).split(' ').filter(Boolean);
  // Anything else says nothing about rights.
  expect(['invalid_target', 'invalid_request', 'invalid_client', 'unauthorized_client']).toContain(
    body['error'],
  );
  return [];
}

/** Issues tokens as applications do: by exchange for users, by each of their secrets for themselves. */
async function issuerFor({ applications, targets }: World): Promise<Issue> {
  const backend = await directory.createClient({
    allowTokenExchange: true,
    exchangeResources: [...targets.keys()],
  });
  return async ({ type, id, resource, organizationId }, scopes) => {
    const asked = { resource, scope: scopes.join(' '), organization_id: organizationId };
    if (type === 'user') {
      const subject_token = await userToken(service, id, frontend);
      return scopesIn(await exchange(service, backend, { subject_token, ...asked }, elsewhere()));
    }
    const secrets = applications.find((one) => one.id === id)?.secrets ?? [];
    const issued = await Promise.all(
      secrets.map(async (secret) =>
        scopesIn(
          await postToken(service, formOf({ grant_type: 'client_credentials', ...asked }), {
            ...elsewhere(),
            authorization: basic(id, secret),
          }),
        ),
      ),
    );
    return [...new Set(issued.flat())];
  };
}

const keyOf = ({ id, resource, organizationId }: Question, scope: string) =>
  [id, resource, organizationId ?? '-', scope].join(' ');

const within = (organizationId: string | undefined) =>
  organizationId === undefined ? {} : { context: { organization_id: organizationId } };

const drawShape = () => worldShape;

fuzz('who can is permissions is the scope of a token, here and by AuthZEN', 2, async (g) => {
  const drawn = g(drawShape);
  const world = await createWorld(testDatabase.database, clock.now(), drawn);
  const issue = await issuerFor(world);
  const subjects = [
    ...world.users.map((id) => ({ type: 'user', id }) as const),
    ...world.applications.map(({ id }) => ({ type: 'application', id }) as const),
  ];
  const organizations = [undefined, ...world.organizations];
  const questions: Question[] = subjects.flatMap((subject) =>
    [...world.targets.keys()].flatMap((resource) =>
      organizations.map((organizationId) => ({ ...subject, resource, organizationId })),
    ),
  );

  // What tokens say, which is what everything else has to say.
  const held = new Set<string>();
  const reasons = new Map<string, unknown>();
  const compare = async (question: Question) => {
    const scopes = world.targets.get(question.resource) ?? [];
    const issued = (await issue(question, scopes)).sort();
    const permissions = await permissionsOf(service, token, question.id, question);
    expect([question, permissions.map(({ scope }) => scope.name)]).toEqual([question, issued]);
    for (const { scope, sources } of permissions) {
      const isOwn = question.type === 'user' && question.resource === 'urn:signet:account';
      if (!isOwn) expect([question, scope.name, sources]).not.toEqual([question, scope.name, []]);
      expect(sources.every(({ counts }) => counts)).toBe(true);
      held.add(keyOf(question, scope.name));
      reasons.set(keyOf(question, scope.name), sources);
    }
    const { type, id, resource, organizationId } = question;
    const body = {
      subject: { type, id },
      resource: { type: 'api', id: resource },
      ...within(organizationId),
    };
    const actions = await searchAll(service, asker, 'search/action', body, drawn.page);
    expect([question, actions]).toEqual([question, issued.map((name) => ({ name }))]);
  };
  await Promise.all(questions.map(compare));

  const asked = questions.flatMap((question) =>
    [...(world.targets.get(question.resource) ?? []), 'unheard-of'].map((scope) => ({
      question,
      scope,
    })),
  );
  for (let from = 0; from < asked.length; from += 1_000) {
    const part = asked.slice(from, from + 1_000);
    const { status, body } = await postAccess(service, asker, 'evaluations', {
      evaluations: part.map(({ question: { type, id, resource, organizationId }, scope }) => ({
        subject: { type, id },
        action: { name: scope },
        resource: { type: 'api', id: resource },
        ...within(organizationId),
      })),
    });
    expect(status).toBe(200);
    expect(body.evaluations).toEqual(
      part.map(({ question, scope }) => ({ decision: held.has(keyOf(question, scope)) })),
    );
  }

  const ofWorld = new Set<string>(subjects.map(({ id }) => id));
  const list = async (resource: string, organizationId: string | undefined, scope: string) => {
    const question = { resource, organizationId, scope };
    const expected = subjects
      .map((subject) => ({ ...subject, resource, organizationId }))
      .filter((one) => held.has(keyOf(one, scope)))
      .map(({ id }) => id)
      .sort();
    const nodes = await everyoneWhoCan(service, token, question, 20);
    const ids = nodes.map(({ subjectId }) => subjectId);
    // The database holds other worlds, and the admin application.
    expect([question, ids.filter((id) => ofWorld.has(id))]).toEqual([question, expected]);
    expect(ids).toEqual(ids.toSorted());
    const { totalCount } = await whoCan(service, token, { ...question, first: 0 });
    expect([question, totalCount]).toEqual([question, ids.length]);
    for (const { subjectId, sources } of nodes.filter((node) => ofWorld.has(node.subjectId))) {
      const key = keyOf({ type: 'user', id: subjectId, resource, organizationId }, scope);
      expect([key, sources]).toEqual([key, reasons.get(key)]);
    }
    if (!resource.startsWith('https:')) return;
    const backwards = await everyoneWhoCan(service, token, question, drawn.page, 'backwards');
    expect(backwards).toEqual(nodes);
    const found = await Promise.all(
      (['application', 'user'] as const).map((type) => {
        const body = {
          subject: { type },
          action: { name: scope },
          resource: { type: 'api', id: resource },
          ...within(organizationId),
        };
        return searchAll(service, asker, 'search/subject', body, drawn.page);
      }),
    );
    expect([question, found.flat().map(({ id }) => id)]).toEqual([question, ids]);
  };
  await Promise.all(
    [...world.targets].flatMap(([resource, scopes]) =>
      organizations.flatMap((organizationId) =>
        scopes.map((scope) => list(resource, organizationId, scope)),
      ),
    ),
  );

  const locate = async (
    { type, id }: (typeof subjects)[number],
    organizationId: string | undefined,
    scope: string,
  ) => {
    const body = {
      subject: { type, id },
      action: { name: scope },
      resource: { type: 'api' },
      ...within(organizationId),
    };
    const found = await searchAll(service, asker, 'search/resource', body, drawn.page);
    const expected = [...world.targets.keys()].filter((resource) =>
      held.has(keyOf({ type, id, resource, organizationId }, scope)),
    );
    expect([body, found]).toEqual([
      body,
      expected.sort().map((indicator) => ({ type: 'api', id: indicator })),
    ]);
  };
  await Promise.all(
    subjects.flatMap((subject) =>
      organizations.flatMap((organizationId) =>
        ['read', 'users:read', 'account:read', 'bill'].map((scope) =>
          locate(subject, organizationId, scope),
        ),
      ),
    ),
  );
});
