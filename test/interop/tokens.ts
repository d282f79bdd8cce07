import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Resource } from '../../src/generated/prisma/client.ts';
import { signCompact } from '../../src/keys/compact-jws.ts';
import { createSignInFixture } from '../support/people/sign-in-fixture.ts';
import type { TestService } from '../support/service.ts';
import { exchange } from '../support/tokens.ts';

/** The scope that a call needs. */
export const scope = 'orders:read';
/** One that the user has too. */
const otherScope = 'orders:write';

/** Issues tokens as the service does, and signs others with its keys that it never issues. */
export async function createIssuer(service: TestService) {
  const fixture = await createSignInFixture(service);
  const { directory, user } = fixture;
  const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
  const { access_token: subject, id_token: idToken = '' } = await fixture.signIn({
    resource: fixture.resource.indicator,
  });

  /** A token that the service issued, by exchange. */
  async function issue(resource: Resource, asked: string = scope): Promise<string> {
    const { body } = await exchange(service, backend, {
      subject_token: subject,
      resource: resource.indicator,
      scope: asked,
    });
    if (!body['access_token']) throw new Error(`No token: ${JSON.stringify(body)}`);
    return String(body['access_token']);
  }

  return {
    issue,
    /** The application that exchanges, and that may ask about every token. */
    backend,

    async createApi(values: Parameters<typeof directory.createResource>[1]): Promise<Resource> {
      const resource = await directory.createResource([scope, otherScope], values);
      await directory.allowUser(user, resource, [scope, otherScope]);
      return resource;
    },

    /** A token for an API that is signed as those for another are. */
    async issueAsFor(api: Resource, signedAs: Resource): Promise<string> {
      const { algorithm, kid, privateKey } = service.app.services.keys.signerFor(signedAs);
      const good = await issue(api);
      return signCompact(
        { algorithm, key: privateKey },
        { ...decodeProtectedHeader(good), alg: algorithm, kid },
        decodeJwt(good),
      );
    },

    /** A token whose end comes in some seconds. */
    async issueEnding(api: Resource): Promise<string> {
      const { algorithm, kid, privateKey } = service.app.services.keys.signerFor(api);
      const good = await issue(api);
      const end = Math.floor(service.clock.now().getTime() / 1000) + 3;
      return signCompact(
        { algorithm, key: privateKey },
        { ...decodeProtectedHeader(good), kid },
        { ...decodeJwt(good), exp: end },
      );
    },

    /** What an API is asked with while no key changes, and how it has to answer. */
    async tokensFor(api: Resource, other: Resource): Promise<Record<string, [string, number]>> {
      const good = await issue(api);
      const { algorithm, kid, privateKey } = service.app.services.keys.signerFor(api);
      const header = { ...decodeProtectedHeader(good), kid };
      const claims = decodeJwt(good);
      const now = Math.floor(service.clock.now().getTime() / 1000);
      const sign = (changed: object, ofHeader: object = {}, key = privateKey) =>
        signCompact({ algorithm, key }, { ...header, ...ofHeader }, { ...claims, ...changed });
      const stranger =
        algorithm === 'RS256'
          ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
          : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      return {
        good: [good, 200],
        audience: [await issue(other), 401],
        issuer: [await sign({ iss: 'https://elsewhere.example.com/oidc' }), 401],
        signature: [await sign({}, {}, stranger), 401],
        'unknown key': [await sign({}, { kid: 'stranger' }, stranger), 401],
        type: [await sign({}, { typ: 'JWT' }), 401],
        'ID token': [idToken, 401],
        scope: [await issue(api, otherScope), 403],
        expired: [await sign({ iat: now - 3600, exp: now - 60 }), 401],
        'no exp': [await sign({ exp: undefined }), 401],
        // As an API sees a new token whose clock is some seconds behind.
        'clock behind': [await sign({ iat: now + 5 }), 200],
      };
    },
  };
}
