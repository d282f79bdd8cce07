import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { settledEvents } from '../../support/events.ts';
import { asPage, step } from '../../support/people/experience.ts';
import { allowPrivate, connect, manager, signInThere } from '../../support/people/federation.ts';
import { discover } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const [service, other] = [await startService(allowPrivate), await startService()];
const fixture = await createSignInFixture(service);
const there = await createSignInFixture(other);
const { client, database } = fixture;
const token = await service.managementToken();
const admin = await manager(service);
const identityProviderId = await connect(service, other, {
  name: 'Acme',
  kind: 'ENTERPRISE',
  emailDomains: ['acme.example'],
});
// Anybody of the domain joins the one, those of the provider the other.
const byDomain = await admin.organization();
await admin.done('addOrganizationEmailDomain', {
  organizationId: byDomain,
  domain: 'acme.example',
});
const byProvider = await admin.organization();
const organizationRoleId = await admin.organizationRole();
await admin.done('replaceOrganizationJitRoles', {
  organizationId: byProvider,
  organizationRoleIds: [organizationRoleId],
});
await admin.done('addOrganizationIdentityProvider', {
  organizationId: byProvider,
  identityProviderId,
});
// No stranger registers, except by their company.
await changeSettings(service, token, {
  signUpEnabled: false,
  signUpIdentifiers: ['EMAIL'],
});

const count = async () => (await settledEvents(service, token)).length;
const raised = async (from: number) => (await settledEvents(service, token)).slice(from);

/** Names an address on the first page, and comes back from the company's provider. */
async function come(email: string, identifier = email) {
  const { browser, visit, verifier } = await openSignInPage(service, client);
  expect(visit.body).not.toContain('type="password"');
  expect(visit.body).not.toContain('Continue with');
  const left = await browser.submit(visit, { identifier: email });
  expect(left.url.searchParams.get('login_hint')).toBe(email);
  const callback = await signInThere(other, left.url, identifier);
  return { browser, verifier, visit: await browser.open(callback) };
}

describe('an address of the company', () => {
  test('leads to its provider, and to its organizations', async () => {
    await there.createUser({
      username: 'eve',
      primaryEmail: 'eve@acme.example',
      isEmailVerified: true,
    });
    const before = await count();
    const { visit, verifier } = await come('eve@acme.example');
    const tokens = await oidc.authorizationCodeGrant(await discover(service, client), visit.url, {
      pkceCodeVerifier: verifier,
    });
    const userId = tokens.claims()?.sub ?? '';
    const found = await raised(before);
    expect(found.map(({ name }) => name)).toEqual([
      'User.Created',
      'PostRegister',
      'Organization.Membership.Updated',
      'Organization.Membership.Updated',
      'Organization.MemberRoles.Updated',
    ]);
    expect(found.slice(2).map(({ data }) => data)).toEqual([
      expect.objectContaining({ organizationId: byDomain, addedUserIds: [userId] }),
      expect.objectContaining({ organizationId: byProvider, addedUserIds: [userId] }),
      expect.objectContaining({
        organizationId: byProvider,
        addedOrganizationRoleIds: [organizationRoleId],
      }),
    ]);
    expect(
      await database.prisma.organizationUserRole.findMany({ where: { userId } }),
    ).toMatchObject([{ organizationId: byProvider, organizationRoleId }]);
  });

  test('gets no password, code or recovery', async () => {
    await fixture.createUser({
      username: 'mallory',
      primaryEmail: 'mallory@acme.example',
      isEmailVerified: true,
    });
    const { browser } = await openSignInPage(service, client);
    const send = asPage(service, browser);
    const email = 'mallory@ACME.example';
    expect(await step(send, 'signInWithPassword', { identifier: email, password })).toMatchObject({
      code: 'NOT_ALLOWED',
    });
    for (const purpose of ['SIGN_IN', 'RESET_PASSWORD', 'REGISTER']) {
      expect(await step(send, 'sendCode', { purpose, email })).toMatchObject({
        code: 'NOT_ALLOWED',
      });
    }
    expect(await database.prisma.message.count()).toBe(0);
  });

  test('is believed of no other company', async () => {
    const owner = await fixture.createUser({
      username: 'victim',
      primaryEmail: 'victim@other.example',
      isEmailVerified: true,
    });
    await there.createUser({
      username: 'intruder',
      primaryEmail: 'victim@other.example',
      isEmailVerified: true,
    });
    const before = await count();
    const { visit } = await come('intruder@acme.example', 'intruder');
    expect(visit.body).not.toContain('victim@other.example');
    expect(await database.prisma.userIdentity.count({ where: { userId: owner.id } })).toBe(0);
    expect(await raised(before)).toEqual([]);
  });

  test('leads there from the pages of codes and recovery too', async () => {
    const { browser, visit } = await openSignInPage(service, client);
    for (const path of ['/code', '/forgot-password']) {
      const page = await browser.open(`${visit.url.pathname}${path}`);
      const left = await browser.submit(page, { email: 'eve@acme.example' });
      expect(left.url.href).toContain(`${other.app.services.issuer}/auth`);
    }
  });
});

test('everybody else is asked for a password on the next page', async () => {
  const { browser, visit } = await openSignInPage(service, client);
  const next = await browser.submit(visit, { identifier: 'ada@example.com' });
  expect(next.body).toContain('value="ada@example.com"');
  expect(next.body).toContain('autocomplete="current-password"');
  const done = await browser.submit(next, { identifier: 'ada@example.com', password });
  expect(done.url.searchParams.get('code')).toBeTruthy();
});

test('startFederation takes an address of the company alone', async () => {
  const { browser } = await openSignInPage(service, client);
  const send = asPage(service, browser);
  const url = expect.stringContaining(other.app.services.issuer);
  expect(await step(send, 'startFederation', { email: 'x@acme.example' })).toMatchObject({ url });
  expect(await step(send, 'startFederation', { email: 'x@other.example' })).toMatchObject({
    code: 'NOT_ALLOWED',
  });
  expect(await step(send, 'startFederation', {})).toMatchObject({ code: 'INVALID_INPUT' });
  expect(
    await step(send, 'startFederation', { email: 'x@acme.example', identityProviderId }),
  ).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await step(send, 'startFederation', { identityProviderId: 'idp_unknown' })).toMatchObject({
    code: 'NOT_FOUND',
  });
});
