import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import Provider, { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { announce, createLoadKeys, tokenCount, userCount } from './server.ts';

// oidc-provider without Signet: the exchange as a registered grant, and its own store in memory.

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const resource = 'https://orders.example.com/api';
const [clientId, clientSecret] = ['backend', 'a secret of thirty-two characters'];
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
const jwk = { ...(await exportJWK(privateKey)), kid: 'key_1', alg: 'ES256', use: 'sig' };

const keyedClientId = 'backend-with-keys';
const { jwks: clientJwks, kid, privateJwk } = createLoadKeys();

// What the library's own grants check proofs by. It has no types.
const checks: string = 'oidc-provider/lib/helpers/validate_dpop.js';
const { default: validateDpop, checkDpopReplay } = (await import(checks)) as {
  default(provider: Provider, ctx: KoaContextWithOIDC): Promise<Proof | undefined>;
  checkDpopReplay(
    provider: Provider,
    ctx: KoaContextWithOIDC,
    proof: Proof | undefined,
    clientId: string,
  ): Promise<void>;
};
interface Bindable {
  setThumbprint(kind: 'jkt', thumbprint: string): void;
}
interface Proof {
  readonly thumbprint: string;
}

const server = createServer();
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const provider = new Provider(issuer, {
  jwks: { keys: [jwk] },
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      grant_types: [grantType],
      redirect_uris: [],
      response_types: [],
    },
    {
      client_id: keyedClientId,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: clientJwks,
      grant_types: [grantType],
      redirect_uris: [],
      response_types: [],
    },
  ],
  clientAuthMethods: ['client_secret_basic', 'private_key_jwt'],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  features: {
    devInteractions: { enabled: false },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({
        scope: 'read write',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 3600,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});

provider.registerGrantType(
  grantType,
  async (ctx: KoaContextWithOIDC) => {
    const { client, params } = ctx.oidc;
    if (!client || !params) throw new errors.InvalidClient('no client');
    const proof = await validateDpop(provider, ctx);
    const { payload } = await jwtVerify(String(params['subject_token']), publicKey, {
      issuer,
      typ: 'at+jwt',
    });
    const info = {
      scope: 'read write',
      audience: String(params['resource']),
      accessTokenFormat: 'jwt' as const,
      accessTokenTTL: 3600,
      jwt: { sign: { alg: 'ES256' as const } },
    };
    const token = new provider.AccessToken({
      client,
      accountId: payload.sub,
      scope: String(params['scope']),
      extra: { act: { sub: client.clientId } },
    } as unknown as ConstructorParameters<typeof provider.AccessToken>[0]);
    token.resourceServer = new provider.ResourceServer(String(params['resource']), info);
    if (proof) {
      await checkDpopReplay(provider, ctx, proof, client.clientId);
      (token as unknown as Bindable).setThumbprint('jkt', proof.thumbprint);
    }
    ctx.oidc.entity('AccessToken', token);
    ctx.body = {
      access_token: await token.save(),
      expires_in: token.expiration,
      token_type: token.tokenType,
      scope: token.scope,
    };
  },
  ['subject_token', 'subject_token_type', 'resource', 'scope'],
);
server.on('request', provider.callback());
process.once('SIGTERM', () => process.exit(0));

const exp = Math.floor(Date.now() / 1000) + 86_400;
announce({
  url: issuer,
  path: '/token',
  keys: { clientId: keyedClientId, kid, privateJwk, audience: issuer },
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    authorization: `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(clientSecret)}`).toString('base64')}`,
  },
  bodies: await Promise.all(
    Array.from({ length: tokenCount }, async (_, i) =>
      new URLSearchParams({
        grant_type: grantType,
        subject_token: await new SignJWT({ client_id: 'spa', scope: '' })
          .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key_1' })
          .setIssuer(issuer)
          .setSubject(`user_${i % userCount}`)
          .setAudience('https://gateway.example.com')
          .setIssuedAt()
          .setJti(randomUUID())
          .setExpirationTime(exp)
          .sign(privateKey),
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        resource,
        scope: 'read write',
      }).toString(),
    ),
  ),
});
