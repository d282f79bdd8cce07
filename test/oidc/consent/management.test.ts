import { describe, expect, test } from 'vitest';
import { send } from '../../support/operations/graphql.ts';
import { asPage } from '../../support/people/experience.ts';
import { createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { answerOf, asked, asksConsent, consentDriver } from './driver.ts';

const service = await startService();
const { prisma } = service.app.services.database;
const fixture = await createSignInFixture(service);
const { begin, createPair, signedIn, grantsOf } = consentDriver(service, fixture);
const management = await prisma.resource.findUniqueOrThrow({
  where: { indicator: 'urn:signet:management' },
});
const evil = 'https://evil.example.com/callback';
const request = { scope: 'openid users:read', resource: management.indicator };

type Result = { __typename: string; application?: { id: string } };

async function mutate(
  name: 'createApplication' | 'updateApplication',
  input: object,
  scope: string,
) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const { data } = await send<Record<string, Result>, { input: object }>(
    { url: service.url, token: await service.managementToken(scope) },
    `mutation ($input: ${type}Input!) { ${name}(input: $input) { __typename ... on ${type}Payload { application { id } } } }`,
    { input },
  );
  const result = data?.[name];
  if (!result) throw new Error(`${name} gave nothing.`);
  return result;
}

/** An application made by a caller with these scopes, and a person who administers the service. */
async function createAdministrated(
  scope: string,
  redirectUri = 'https://app.example.com/callback',
) {
  const input = { name: 'Dashboard', type: 'SPA', redirectUris: [redirectUri] };
  const { application } = await mutate('createApplication', input, scope);
  const user = await fixture.createUser();
  await fixture.directory.allowUser(user, management, ['users:read']);
  return { user, client: { id: application?.id ?? '', secret: '' } };
}

describe('the management API', () => {
  test('needs no consent where the creator could do everything', async () => {
    const pair = await createAdministrated('all');
    const { visit } = await begin(pair, request);
    expect(answerOf(visit)).toHaveProperty('code');
  });

  test('needs consent where the creator could not', async () => {
    const pair = await createAdministrated('applications:write', evil);
    const browser = await signedIn(pair);
    const { visit } = await begin(pair, { ...request, redirect_uri: evil }, browser);
    expect(asksConsent(visit)).toBe(true);
    expect(asked(visit)).toEqual(['Read users and their roles.']);
    expect(visit.body).toContain('evil.example.com');
    const silent = { ...request, redirect_uri: evil, prompt: 'none' };
    expect(answerOf((await begin(pair, silent, browser)).visit)).toMatchObject({
      error: 'consent_required',
    });
  });

  test('asks again after a lesser caller adds a redirect URI', async () => {
    const pair = await createAdministrated('all');
    const { id } = pair.client;
    const browser = await signedIn(pair);
    const added = 'https://app.example.com/other';
    const redirectUris = ['https://app.example.com/callback', added];
    await mutate('updateApplication', { id, redirectUris }, 'applications:write');
    const first = await begin(pair, { ...request, redirect_uri: added }, browser);
    expect(asksConsent(first.visit)).toBe(true);
    await browser.submit(first.visit, {});
    expect(answerOf((await begin(pair, request, browser)).visit)).toHaveProperty('code');
    const more = [...redirectUris, evil];
    await mutate('updateApplication', { id, redirectUris: more }, 'applications:write');
    // What is allowed at one host is not for the other, so it is asked about each time.
    for (const redirect_uri of [redirectUris[0], evil]) {
      const { visit } = await begin(pair, { ...request, redirect_uri }, browser);
      expect(asksConsent(visit)).toBe(true);
      expect(answerOf(await browser.submit(visit, {}))).toHaveProperty('code');
    }
    expect(asksConsent((await begin(pair, request, browser)).visit)).toBe(true);
  });

  test('leaves other requests of such an application alone', async () => {
    const pair = await createAdministrated('applications:write');
    expect(answerOf((await begin(pair)).visit)).toHaveProperty('code');
  });
});

test.each([
  { type: 'TRADITIONAL', isThirdParty: true, allowTokenExchange: true },
  { type: 'SPA', isThirdParty: true, allowHeadlessSignIn: true },
  { type: 'MACHINE_TO_MACHINE', isThirdParty: true },
])('refuses a third party a way around consent: %j', async (settings) => {
  const result = await mutate('createApplication', { name: 'Around', ...settings }, 'all');
  expect(result.__typename).toBe('NotAllowedError');
});

test('grants and denies over the Experience API', async () => {
  const pair = await createPair();
  const { browser } = await begin(pair, { scope: 'openid email' });
  const page = asPage(service, browser);
  const read = await page(
    '{ interaction { nextSteps consent { scopes { name description } resources { name } } } }',
  );
  expect(read.body.data?.['interaction']).toEqual({
    nextSteps: ['CONSENT'],
    consent: {
      scopes: [
        { name: 'openid', description: 'Know who you are' },
        { name: 'email', description: 'Your e-mail address' },
      ],
      resources: [],
    },
  });
  const grant = (input: object) =>
    page(
      `mutation ($input: GrantConsentInput!) { grantConsent(input: $input) {
         __typename ... on GrantConsentPayload { interaction { nextSteps } } } }`,
      { input },
    );
  const other = await grant({ scopes: ['openid'] });
  expect(other.body.data?.['grantConsent']?.__typename).toBe('InvalidInputError');
  expect(await grantsOf(pair.user)).toEqual([]);
  // Submitted twice at once.
  const both = await Promise.all([grant({}), grant({})]);
  for (const { body } of both)
    expect(body.data?.['grantConsent']).toMatchObject({ interaction: { nextSteps: ['SUBMIT'] } });
  expect(await grantsOf(pair.user)).toHaveLength(1);

  const second = await createPair();
  const asking = await begin(second);
  const denied = await asPage(
    service,
    asking.browser,
  )('mutation { denyConsent(input: {}) { __typename ... on DenyConsentPayload { redirectTo } } }');
  const { url } = await asking.browser.open(
    String(denied.body.data?.['denyConsent']?.['redirectTo']),
  );
  expect(url.searchParams.get('error')).toBe('access_denied');
  expect(await grantsOf(second.user)).toEqual([]);
});
