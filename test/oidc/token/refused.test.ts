import { describe, expect, test } from 'vitest';
import type { ActClaim } from '../../../src/auth/access-token.ts';
import { ruleNames } from '../../../src/oidc/token/exchange-rules.ts';
import {
  type ExplainedTokenType,
  explainExchange,
} from '../../../src/oidc/token/explanation/explain.ts';
import { basic } from '../../support/client-credentials.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { startService } from '../../support/service.ts';
import {
  accessTokenType,
  exchange,
  exchangeGrantType,
  formOf,
  postToken,
  strangerId,
  userToken,
} from '../../support/tokens.ts';
import { eventually } from '../../support/wait.ts';

// A request of the last test names its own address, by which its event is found.
const service = await startService({ TRUST_PROXY: '1' });
const { services } = service.app;
const { prisma } = services.database;
const directory = seedDirectory(services.database, service.clock);

const orders = await directory.createResource(['read']);
const organization = await directory.createOrganization();
const frontend = await directory.createClient({ type: 'SPA' });
const backend = await directory.createClient({ allowTokenExchange: true });
const off = await directory.createClient();
const narrow = await directory.createClient({
  allowTokenExchange: true,
  exchangeSubjectAudiences: ['https://gateway.example.com/api'],
  exchangeResources: ['https://other.example.com'],
});
const support = await directory.createClient({
  allowTokenExchange: true,
  allowImpersonation: true,
  exchangeResources: ['urn:signet:management'],
});
const rebinding = await directory.createClient({ allowTokenExchange: true, mayRebindTokens: true });
const strict = await directory.createClient({ allowTokenExchange: true, requireDpop: true });
const thirdParty = await directory.createClient({ type: 'SPA', isThirdParty: true });
const user = await directory.createUser();
const suspended = await directory.createUser({ isSuspended: true });

const refusals = () =>
  prisma.event.findMany({
    where: { type: 'Token.Refused' },
    orderBy: { position: 'asc' },
    select: { data: true, actor: true, subjectId: true, traceId: true },
  });

/** Makes a request that is refused, and returns its event. */
async function eventOf(request: () => Promise<{ status: number; body: object }>) {
  service.clock.advance(61_000);
  const before = (await refusals()).length;
  const { status, body } = await request();
  expect(status).toBeGreaterThanOrEqual(400);
  const [event, ...others] = await eventually(async () => {
    const found = (await refusals()).slice(before);
    expect(found).not.toEqual([]);
    return found;
  });
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    actor: { type: 'SYSTEM', id: null },
    traceId: expect.any(String),
    data: { error: (body as { error: string }).error, ip: '127.0.0.1', suppressed: null },
  });
  return event?.data;
}

const act = (depth: number): ActClaim =>
  depth === 1 ? { sub: backend.id } : { sub: backend.id, act: act(depth - 1) };

interface Case {
  readonly rule: (typeof ruleNames)[number];
  readonly client?: typeof backend;
  readonly userId?: string;
  readonly claims?: Parameters<typeof userToken>[3];
  /** What the request has instead of the usual. */
  readonly sent?: Record<string, string | undefined>;
  /** The type of subject token by which the explanation knows it too; absent: it cannot. */
  readonly explainedFor?: ExplainedTokenType;
  readonly shows?: object;
  /** What the explanation is told of who acts. */
  readonly acting?: Pick<Parameters<typeof explainExchange>[1], 'actor' | 'mayAct'>;
}

const actor = async (client: typeof backend, claims?: Parameters<typeof userToken>[3]) => ({
  actor_token: await userToken(service, user.id, client, claims),
  actor_token_type: accessTokenType,
});
const actors = {
  ofAnother: await actor(frontend),
  bound: await actor(backend, { cnf: { jkt: 'of a key' } }),
};

const proved = { userId: user.id };
const cases: readonly [string, Case][] = [
  ['no subject token', { rule: 'REQUEST', sent: { subject_token: undefined } }],
  ['no resource', { rule: 'REQUEST', sent: { resource: undefined }, shows: { resource: null } }],
  ['an unknown type', { rule: 'REQUEST', sent: { subject_token_type: 'urn:other' } }],
  ['an actor token', { rule: 'REQUEST', sent: { actor_token: 'x' } }],
  ['another audience', { rule: 'REQUEST', sent: { audience: 'https://x.test' }, shows: proved }],
  ['a wrong secret', { rule: 'APPLICATION_SECRET', client: { ...backend, secret: 'wrong' } }],
  [
    'no such application',
    {
      rule: 'APPLICATION_SECRET',
      client: { id: 'app_01h455vb4pex5vsknk084sn02q', secret: 'x' },
      explainedFor: 'ACCESS_TOKEN',
    },
  ],
  [
    'an exchange that is off',
    { rule: 'EXCHANGE_ALLOWED', client: off, explainedFor: 'ACCESS_TOKEN' },
  ],
  [
    'a type that is off',
    {
      rule: 'SUBJECT_TOKEN_TYPE_ALLOWED',
      explainedFor: 'SUBJECT_TOKEN',
      sent: { subject_token_type: 'urn:signet:params:oauth:token-type:subject_token' },
    },
  ],
  ['no proof', { rule: 'KEY_PROVEN', client: strict, explainedFor: 'ACCESS_TOKEN' }],
  ['no token', { rule: 'SUBJECT_TOKEN', sent: { subject_token: 'what is this' } }],
  [
    'an unknown token of an agent',
    {
      rule: 'SUBJECT_TOKEN',
      client: support,
      sent: { subject_token_type: 'urn:signet:params:oauth:token-type:subject_token' },
    },
  ],
  ['an old token', { rule: 'SUBJECT_TOKEN', claims: { exp: 1 } }],
  [
    'a suspended user',
    {
      rule: 'USER_ACTIVE',
      userId: suspended.id,
      explainedFor: 'ACCESS_TOKEN',
      shows: { userId: suspended.id },
    },
  ],
  [
    'a user who is gone',
    { rule: 'USER_ACTIVE', userId: strangerId(), explainedFor: 'ACCESS_TOKEN' },
  ],
  [
    'an audience beside the list',
    {
      rule: 'SUBJECT_AUDIENCE',
      client: narrow,
      claims: { aud: 'https://x.example.com' },
      explainedFor: 'ACCESS_TOKEN',
      shows: proved,
    },
  ],
  [
    'a token of a third party',
    {
      rule: 'SUBJECT_CONSENT',
      claims: { client_id: thirdParty.id },
      explainedFor: 'ACCESS_TOKEN',
      shows: proved,
    },
  ],
  [
    'a bound token without its key',
    {
      rule: 'SUBJECT_KEY_PROVEN',
      claims: { cnf: { jkt: 'of a key' } },
      explainedFor: 'ACCESS_TOKEN',
      shows: proved,
    },
  ],
  [
    'a bound token for a bearer token',
    {
      rule: 'BINDING_KEPT',
      client: rebinding,
      claims: { cnf: { jkt: 'of a key' } },
      explainedFor: 'ACCESS_TOKEN',
      shows: proved,
    },
  ],
  [
    'an actor token that is none',
    {
      rule: 'ACTOR_TOKEN',
      sent: { actor_token: 'x', actor_token_type: accessTokenType },
      shows: proved,
    },
  ],
  [
    'an actor token of another application',
    {
      rule: 'ACTOR_ALLOWED',
      sent: actors.ofAnother,
      explainedFor: 'ACCESS_TOKEN',
      acting: { actor: { sub: user.id, clientId: frontend.id, isBound: false } },
      shows: proved,
    },
  ],
  [
    'a bound actor token without its key',
    {
      rule: 'ACTOR_KEY_PROVEN',
      sent: actors.bound,
      explainedFor: 'ACCESS_TOKEN',
      acting: { actor: { sub: user.id, clientId: backend.id, isBound: true } },
      shows: proved,
    },
  ],
  [
    'another actor than may act',
    {
      rule: 'MAY_ACT',
      claims: { may_act: { sub: user.id } },
      explainedFor: 'ACCESS_TOKEN',
      acting: { mayAct: { sub: user.id } },
      shows: proved,
    },
  ],
  ['a long chain', { rule: 'ACT_CHAIN', claims: { act: act(8) }, shows: proved }],
  [
    'an unknown resource',
    {
      rule: 'RESOURCE',
      sent: { resource: 'https://unknown.example.com' },
      explainedFor: 'ACCESS_TOKEN',
      shows: { ...proved, resource: 'https://unknown.example.com' },
    },
  ],
  [
    'an organization of others',
    {
      rule: 'ORGANIZATION',
      sent: { organization_id: organization.id },
      explainedFor: 'ACCESS_TOKEN',
      shows: proved,
    },
  ],
  [
    'a resource beside the list',
    { rule: 'RESOURCE_ALLOWED', client: narrow, explainedFor: 'ACCESS_TOKEN', shows: proved },
  ],
  [
    'a resource beyond the token',
    {
      rule: 'RESOURCE_REACHED',
      explainedFor: 'SUBJECT_TOKEN',
      client: support,
      claims: { lineage: ['subtoken_01h455vb4pex5vsknk084sn02q'] },
      sent: { resource: 'urn:signet:management' },
      shows: { ...proved, resource: 'urn:signet:management' },
    },
  ],
  [
    'a scope with a quote',
    { rule: 'SCOPE_GRAMMAR', sent: { scope: '"' }, explainedFor: 'ACCESS_TOKEN', shows: proved },
  ],
];

const fails = (client: { id: string; secret: string }) =>
  client.secret === 'x' ? null : client.id;

describe('an exchange is refused, and an event names the rule', () => {
  test.each(cases)('%s', async (_what, given) => {
    const { client = backend, userId = user.id, claims, sent } = given;
    const subject_token = await userToken(service, userId, frontend, claims);
    const parameters = { subject_token, resource: orders.indicator, scope: 'read', ...sent };
    const shown = await eventOf(() => exchange(service, client, parameters));
    const knows = !['subject_token', 'resource'].some(
      (name) => sent && name in sent && !sent[name],
    );
    expect(shown).toEqual({
      grantType: exchangeGrantType,
      applicationId: knows ? fails(client) : null,
      rule: given.rule,
      error: expect.any(String),
      resource: orders.indicator,
      userId: null,
      ip: '127.0.0.1',
      suppressed: null,
      ...given.shows,
    });
    expect(JSON.stringify(shown)).not.toContain(subject_token);
    if (!given.explainedFor) return;
    const { rules } = await explainExchange(services, {
      applicationId: client.id,
      userId,
      resource: parameters.resource ?? '',
      scopes: parameters.scope.split(' '),
      organizationId: sent?.['organization_id'],
      subjectTokenType: given.explainedFor,
      subjectAudience: claims?.aud ?? 'https://gateway.example.com/api',
      subjectOrganizationId: undefined,
      subjectClientId: claims?.client_id,
      isSubjectBound: claims?.cnf !== undefined,
      ...given.acting,
    });
    expect(rules.find(({ isMet }) => isMet === false)).toMatchObject({
      rule: given.rule,
      error: (shown as { error: string }).error,
    });
  });

  test('which can be any, and is explained unless it is about the request or the token itself', () => {
    expect(new Set(cases.map(([, { rule }]) => rule))).toEqual(new Set(ruleNames));
    const explained = new Set(cases.flatMap(([, one]) => (one.explainedFor ? [one.rule] : [])));
    const others = ruleNames.filter((rule) => !explained.has(rule));
    expect(others).toEqual(['REQUEST', 'SUBJECT_TOKEN', 'ACTOR_TOKEN', 'ACT_CHAIN']);
  });

  test('also where the same parameter comes twice', async () => {
    const authorization = basic(backend.id, backend.secret);
    const form = formOf({
      grant_type: exchangeGrantType,
      subject_token: 'x',
      resource: 'https://a.test',
    });
    form.set('subject_token_type', accessTokenType);
    form.append('resource', 'https://b.test');
    expect(await eventOf(() => postToken(service, form, { authorization }))).toMatchObject({
      rule: 'REQUEST',
      error: 'invalid_target',
    });
  });
});

test('other grants name no rule', async () => {
  const authorization = basic(off.id, off.secret);
  const post = (parameters: Record<string, string>) =>
    eventOf(() => postToken(service, formOf(parameters), { authorization }));
  const usual = { applicationId: off.id, rule: null, userId: null, resource: null };
  expect(
    await post({ grant_type: 'client_credentials', resource: 'https://unknown.example.com' }),
  ).toMatchObject({
    ...usual,
    grantType: 'client_credentials',
    error: 'invalid_target',
    resource: 'https://unknown.example.com',
  });
  expect(await post({ grant_type: 'refresh_token', refresh_token: 'a secret' })).toMatchObject({
    ...usual,
    grantType: 'refresh_token',
    error: expect.any(String),
  });
  expect(await post({ grant_type: 'password', password: 'a secret' })).toMatchObject({
    ...usual,
    grantType: 'password',
    applicationId: null,
    error: 'unsupported_grant_type',
  });
  expect(JSON.stringify(await refusals())).not.toContain('a secret');
});

test('what no database could hold is left out, and what is long is cut', async () => {
  const body = `grant_type=${'g'.repeat(5000)}%00&resource=${encodeURIComponent('https://\0x.test')}`;
  expect(await eventOf(() => postToken(service, body))).toMatchObject({
    grantType: 'g'.repeat(512),
    resource: 'https://x.test',
  });
});

test('another method raises nothing', async () => {
  const before = (await refusals()).length;
  expect((await fetch(`${service.url}/oidc/token`)).status).toBe(405);
  await eventOf(() => postToken(service, 'grant_type=none'));
  expect(await refusals()).toHaveLength(before + 1);
});

test('what is granted raises nothing', async () => {
  const before = (await refusals()).length;
  const subject_token = await userToken(service, user.id, frontend);
  const { status } = await exchange(service, backend, {
    subject_token,
    resource: orders.indicator,
  });
  expect(status).toBe(200);
  await eventOf(() => postToken(service, 'grant_type=none'));
  expect(await refusals()).toHaveLength(before + 1);
});

/** Every combination of one choice from each list. */
const combinations = <T extends Record<string, readonly unknown[]>>(choices: T) =>
  Object.entries(choices).reduce<Record<string, unknown>[]>(
    (some, [name, values]) =>
      some.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  ) as { readonly [Name in keyof T]: T[Name][number] }[];

test('of several broken rules, both name the same one', async () => {
  service.clock.advance(61_000);
  const requests = combinations({
    client: [backend, off, narrow],
    userId: [user.id, suspended.id, strangerId()],
    aud: ['https://gateway.example.com/api', 'https://x.example.com'],
    resource: [orders.indicator, 'https://unknown.example.com'],
    organizationId: [undefined, organization.id],
    scope: ['read', '"'],
  });
  const broken = new Map<string, string>();
  for (const [i, { client, userId, aud, resource, organizationId, scope }] of requests.entries()) {
    const ip = `192.0.2.${i}`;
    const { rules } = await explainExchange(services, {
      ...{ applicationId: client.id, userId, resource, organizationId, scopes: [scope] },
      ...{ subjectTokenType: 'ACCESS_TOKEN', subjectAudience: aud },
      subjectOrganizationId: undefined,
    });
    const rule = rules.find(({ isMet }) => isMet === false)?.rule;
    if (rule) broken.set(ip, rule);
    // An application has a share of 60 a minute.
    if (i % 50 === 49) service.clock.advance(61_000);
    const { status } = await exchange(
      service,
      client,
      {
        ...{ subject_token: await userToken(service, userId, frontend, { aud }), resource, scope },
        organization_id: organizationId,
      },
      { 'x-forwarded-for': ip },
    );
    expect({ ip, status }).toEqual({ ip, status: rule ? 400 : 200 });
  }
  // The first application takes a token of either audience.
  expect(broken.size).toBe(requests.length - 2);
  await eventually(async () => {
    const told = (await refusals()).map(({ data }) => data as { ip: string; rule: string });
    const byAddress = told.filter(({ ip }) => ip.startsWith('192.0.2.'));
    expect(new Map(byAddress.map(({ ip, rule }) => [ip, rule]))).toEqual(broken);
  });
});
