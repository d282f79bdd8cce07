// The main job of Signet from end to end, with real clients, in one terminal: `npm run demo`. Each step prints the
// request and the answer. The exit code is 0 only if every step succeeded.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import type { CreateApplicationInput } from '../test/generated/graphql.ts';
import { ask, graphql, payload } from '../test/support/operations/graphql.ts';
import { openBrowser } from '../test/support/people/sign-in.ts';
import { startProcess } from '../test/support/process.ts';
import { allHeld, show, step } from './narration.ts';

const gatewayApi = 'https://gateway.example.com/api';
const ordersApi = 'https://orders.example.com/api';
const redirectUri = 'https://shop.example.com/callback';
const password = 'correct horse battery staple';

const dataDir = await mkdtemp(join(tmpdir(), 'signet-demo-'));
const service = startProcess({ DATA_DIR: dataDir });

try {
  step('The service starts on an embedded database, with no configuration');
  const listening = await service.ready;
  const baseUrl = listening.replace('127.0.0.1', 'localhost');
  const issuer = new URL(`${baseUrl}/oidc`);
  const [, adminId = '', adminSecret = ''] =
    /ADMIN_CLIENT_ID=(\S+)\s+ADMIN_CLIENT_SECRET=(\S+)/.exec(service.stdout()) ?? [];
  show('issuer', issuer.href);
  show('admin', adminId);

  const clientOf = (id: string, secret: string) =>
    oidc.discovery(issuer, id, undefined, oidc.ClientSecretBasic(secret), {
      // Signet listens without TLS here; behind a proxy with a certificate this option is not needed.
      execute: [oidc.allowInsecureRequests],
    });

  step('The admin tool gets a token for the management API (client credentials)');
  const managementRequest = { resource: 'urn:signet:management', scope: 'all' };
  show('request', { grant_type: 'client_credentials', ...managementRequest });
  const management = await oidc.clientCredentialsGrant(
    await clientOf(adminId, adminSecret),
    managementRequest,
  );
  show('result', management);
  const admin = { url: baseUrl, token: management.access_token };

  step('The admin tool sets up two APIs, a role, two applications and a user (GraphQL)');
  const AddApi = graphql(`
    mutation DemoAddApi($name: String!, $indicator: String!) {
      createResource(input: { name: $name, indicator: $indicator }) {
        __typename
        ... on CreateResourcePayload { resource { id indicator } }
      }
    }
  `);
  const addApi = async (name: string, indicator: string) => {
    const { createResource } = await ask(admin, AddApi, { name, indicator });
    return payload(createResource, 'CreateResourcePayload').resource;
  };
  show('resource', await addApi('Gateway', gatewayApi));
  const orders = await addApi('Orders', ordersApi);
  show('resource', orders);

  const AddScope = graphql(`
    mutation DemoAddScope($resourceId: ID!, $name: String!) {
      createScope(input: { resourceId: $resourceId, name: $name }) {
        __typename
        ... on CreateScopePayload { scope { id name } }
      }
    }
  `);
  const addScope = async (name: string) => {
    const { createScope } = await ask(admin, AddScope, { resourceId: orders.id, name });
    return payload(createScope, 'CreateScopePayload').scope;
  };
  const readOrders = await addScope('orders:read');
  await addScope('orders:write');

  const { createRole } = await ask(
    admin,
    graphql(`
      mutation DemoAddRole($scopeIds: [ID!]!) {
        createRole(input: { name: "Customer", type: USER, scopeIds: $scopeIds }) {
          __typename
          ... on CreateRolePayload { role { id name scopes { edges { node { name } } } } }
        }
      }
    `),
    { scopeIds: [readOrders.id] },
  );
  const { role } = payload(createRole, 'CreateRolePayload');
  show('role', role);

  const AddApplication = graphql(`
    mutation DemoAddApplication($input: CreateApplicationInput!) {
      createApplication(input: $input) {
        __typename
        ... on CreateApplicationPayload { secret application { id name type allowTokenExchange } }
      }
    }
  `);
  const addApplication = async (input: CreateApplicationInput) => {
    const { createApplication } = await ask(admin, AddApplication, { input });
    const { application, secret } = payload(createApplication, 'CreateApplicationPayload');
    show('client', application);
    return { ...application, secret: secret as string };
  };
  const shop = await addApplication({
    name: 'Shop',
    type: 'TRADITIONAL',
    redirectUris: [redirectUri],
  });
  const serviceA = await addApplication({
    name: 'Service A',
    type: 'MACHINE_TO_MACHINE',
    allowTokenExchange: true,
    exchangeSubjectAudiences: [gatewayApi],
  });

  const { createUser } = await ask(
    admin,
    graphql(`
      mutation DemoAddUser($password: String!) {
        createUser(input: { username: "alice", name: "Alice", primaryEmail: "alice@example.com", password: $password }) {
          __typename
          ... on CreateUserPayload { user { id username name hasPassword } }
        }
      }
    `),
    { password },
  );
  const { user: alice } = payload(createUser, 'CreateUserPayload');
  show('user', alice);
  await ask(
    admin,
    graphql(`
      mutation DemoAssign($userId: ID!, $roleIds: [ID!]!) {
        assignUserRoles(input: { userId: $userId, roleIds: $roleIds }) { __typename }
      }
    `),
    { userId: alice.id, roleIds: [role.id] },
  );

  step('Alice signs in to the shop, on the real page (authorization code with PKCE)');
  const shopClient = await clientOf(shop.id, shop.secret);
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const expectedState = oidc.randomState();
  const authorization = oidc.buildAuthorizationUrl(shopClient, {
    redirect_uri: redirectUri,
    scope: 'openid profile',
    resource: gatewayApi,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  });
  show(
    'request',
    `GET ${authorization.pathname}?${decodeURIComponent(authorization.search.slice(1))}`,
  );
  const browser = openBrowser(baseUrl);
  const page = await browser.open(authorization);
  show('page', /<h1[^>]*>([^<]*)/.exec(page.body)?.[1] ?? '(no heading)');
  const back = await browser.submit(page, { identifier: 'alice', password });
  show('back at', back.url.href);
  const signedIn = await oidc.authorizationCodeGrant(
    shopClient,
    back.url,
    { pkceCodeVerifier, expectedState },
    { resource: gatewayApi },
  );
  assert.equal(signedIn.claims()?.sub, alice.id);
  show('result', signedIn);

  step(
    "Alice's call reaches service A, which swaps her token for one aimed at service B (RFC 8693)",
  );
  const exchangeRequest = {
    subject_token: signedIn.access_token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: ordersApi,
    scope: 'orders:read orders:write',
  };
  show('request', exchangeRequest);
  const serviceAClient = await clientOf(serviceA.id, serviceA.secret);
  const exchange = (parameters: Record<string, string>) =>
    oidc.genericGrantRequest(
      serviceAClient,
      'urn:ietf:params:oauth:grant-type:token-exchange',
      parameters,
    );
  const exchanged = await exchange(exchangeRequest);
  show('result', exchanged);
  // She holds only orders:read; the scope that she lacks is left out.
  assert.equal(exchanged.scope, 'orders:read');

  step('Service B checks the token against the published keys: who called, and for whom');
  const { payload: claims, protectedHeader } = await jwtVerify(
    exchanged.access_token,
    createRemoteJWKSet(new URL(`${issuer.href}/jwks`)),
    { issuer: issuer.href, audience: ordersApi, typ: 'at+jwt', requiredClaims: ['exp', 'jti'] },
  );
  show('header', protectedHeader);
  show('claims', claims);
  assert.equal(claims.sub, alice.id);
  assert.equal(claims['client_id'], serviceA.id);
  assert.deepEqual(claims['act'], { sub: serviceA.id });
  assert.equal(claims['scope'], 'orders:read');
  const subjectExpiry = decodeJwt(signedIn.access_token).exp ?? 0;
  assert.ok(
    (claims.exp ?? Number.POSITIVE_INFINITY) <= subjectExpiry,
    'it outlives the token it came from',
  );

  step('Alice is suspended: from now on her token is worth nothing');
  const { updateUserSuspensionStatus } = await ask(
    admin,
    graphql(`
      mutation DemoSuspend($id: ID!) {
        updateUserSuspensionStatus(input: { id: $id, isSuspended: true }) {
          __typename
          ... on UpdateUserSuspensionStatusPayload { user { username isSuspended } }
        }
      }
    `),
    { id: alice.id },
  );
  show('user', payload(updateUserSuspensionStatus, 'UpdateUserSuspensionStatusPayload').user);
  const refusal = await exchange(exchangeRequest).then(
    () => assert.fail('a suspended user’s token was exchanged'),
    (error: unknown) => {
      if (error instanceof oidc.ResponseBodyError) return error;
      throw error;
    },
  );
  show('refused', {
    status: refusal.status,
    error: refusal.error,
    error_description: refusal.error_description,
  });
  assert.deepEqual([refusal.status, refusal.error], [400, 'invalid_request']);

  step('What it all raised, from the event log');
  const readLog = async () => {
    const { events } = await ask(
      admin,
      graphql(`
        query DemoEvents {
          events(first: 100) { edges { node { name occurredAt actor { type id } } } }
        }
      `),
    );
    return events.edges.map(({ node }) => node);
  };
  let told = await readLog();
  // A refusal is told beside the answer, within a second.
  for (let tries = 0; tries < 100 && told.at(-1)?.name !== 'Token.Refused'; tries += 1) {
    await delay(100);
    told = await readLog();
  }
  for (const { name, occurredAt, actor } of told)
    show('event', `${occurredAt}  ${name.padEnd(30)} by ${actor?.type} ${actor?.id ?? ''}`);
  const names = told.map(({ name }) => name);
  assert.deepEqual(names, [
    'Resource.Created',
    'Resource.Created',
    'Scope.Created',
    'Scope.Created',
    'Role.Created',
    'Role.Scopes.Updated',
    'Application.Created',
    'Application.Created',
    'User.Created',
    'User.Roles.Updated',
    'PostSignIn',
    'User.SuspensionStatus.Updated',
    'User.Session.Ended',
    'Token.Refused',
  ]);

  allHeld();
} finally {
  service.child.kill('SIGTERM');
  await service.ended;
  await rm(dataDir, { recursive: true, force: true });
}
