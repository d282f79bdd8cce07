import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { events } from '../../support/events.ts';
import { allowPrivate, connect, federate } from '../../support/people/federation.ts';
import { discover } from '../../support/people/sign-in.ts';
import { createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const [service, other] = [await startService(allowPrivate), await startService()];
const fixture = await createSignInFixture(service);
const there = await createSignInFixture(other);
const { client, database } = fixture;
const provider = 'Club';
await connect(service, other, { name: provider });
const token = await service.managementToken();

const raised = async (from: number) =>
  (await events({ url: service.url, token })).slice(from).map(({ name }) => name);
const count = async () => (await events({ url: service.url, token })).length;

describe('a stranger', () => {
  test('completes the profile, and is registered', async () => {
    await there.createUser({
      username: 'grace',
      primaryEmail: 'grace@example.com',
      isEmailVerified: true,
      name: 'Grace Hopper',
    });
    const before = await count();
    const { browser, visit, verifier } = await federate(service, other, {
      client,
      provider,
      identifier: 'grace',
    });
    expect(visit.url.pathname).toMatch(/\/profile$/);
    const done = await browser.submit(visit, { username: 'hopper' });
    expect(done.url.searchParams.get('code')).toBeTruthy();
    const tokens = await oidc.authorizationCodeGrant(await discover(service, client), done.url, {
      pkceCodeVerifier: verifier,
    });
    expect(tokens.claims()).toMatchObject({ amr: ['fed'], acr: 'urn:signet:aal1' });
    expect(await raised(before)).toEqual(['User.Created', 'PostRegister']);
    const user = await database.prisma.user.findUniqueOrThrow({
      where: { id: tokens.claims()?.sub ?? '' },
      include: { identities: true },
    });
    expect(user).toMatchObject({
      username: 'hopper',
      name: 'Grace Hopper',
      primaryEmail: 'grace@example.com',
      isEmailVerified: true,
      identities: [{ issuer: other.app.services.issuer, email: 'grace@example.com' }],
    });
  });
});
