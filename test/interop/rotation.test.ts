import { decodeProtectedHeader } from 'jose';
import { expect, test } from 'vitest';
import { closeAtEnd } from '../support/cleanup.ts';
import { ask, graphql, payload } from '../support/operations/graphql.ts';
import { startFront } from '../support/ordeal/front.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';
import { eventually, lateBy } from '../support/wait.ts';
import { areInstalled } from './example-process.ts';
import { createIssuer, scope } from './tokens.ts';
import { python, startVerifier } from './verifier-process.ts';

const Rotate = graphql(`
  mutation RotateBesideVerifiers($immediately: Boolean!) {
    rotateSigningKey(input: { immediately: $immediately }) {
      __typename
      ... on RotateSigningKeyPayload { signingKey { id } }
      ... on Error { message }
    }
  }
`);

const verifiers = {
  ...(areInstalled('verifiers')
    ? {
        jose: 'verifiers/jose.js',
        'express-oauth2-jwt-bearer': 'verifiers/express-oauth2-jwt-bearer.js',
      }
    : {}),
  ...(python ? { PyJWT: 'service_b.py' } : {}),
};

// The lead is that of every installation: the verifiers fetch and wait by the machine's clock.
test.skipIf(Object.keys(verifiers).length === 0)(
  'of 1,000 exchanges and more across a rotation at two nodes no token is refused by any verifier',
  async () => {
    const nodes: TestService[] = [];
    const front = await startFront(async (number) => nodes[number % nodes.length]?.url ?? '');
    closeAtEnd(front.close);
    const service = await startService({ BASE_URL: front.url, TRUST_PROXY: '1' });
    nodes.push(service, await startSecondNode(service));
    const issuer = await createIssuer({ ...service, url: front.url });
    const api = await issuer.createApi({ indicator: 'https://orders.example.com' });
    const token = await service.managementToken();
    const rotate = async (immediately: boolean) =>
      payload(
        (await ask({ url: front.url, token }, Rotate, { immediately })).rotateSigningKey,
        'RotateSigningKeyPayload',
      ).signingKey.id;

    const asks = await Promise.all(
      Object.entries(verifiers).map(async ([name, path]) => ({
        name,
        ask: await startVerifier(path, {
          ISSUER: service.app.services.issuer,
          API: api.indicator,
          SCOPE: scope,
        }),
      })),
    );
    /** Swaps a token, and calls each API with the new one. */
    const exchange = async () => {
      const issued = await issuer.issue(api);
      const kid = decodeProtectedHeader(issued).kid;
      const answers = await Promise.all(
        asks.map(async (verifier) => `${verifier.name}: ${await verifier.ask(issued)}`),
      );
      return { kid, refused: answers.filter((answer) => !answer.endsWith(' 200')) };
    };

    const first = await exchange();
    expect(first.refused).toEqual([]);
    const next = await rotate(false);
    const byKey = new Map<string | undefined, number>();
    const refused: string[] = [];
    const isDone = () =>
      [first.kid, next].every((kid) => (byKey.get(kid) ?? 0) >= 300) &&
      byKey.values().reduce((sum, count) => sum + count) >= 1000;
    const lane = async () => {
      while (!isDone()) {
        const seen = await exchange();
        byKey.set(seen.kid, (byKey.get(seen.kid) ?? 0) + 1);
        refused.push(...seen.refused);
        // What comes meanwhile is enough, and the rest of the machine is for other tests.
        await lateBy(100);
      }
    };
    await Promise.all(Array.from({ length: 5 }, lane));
    expect(refused).toEqual([]);
    expect([...byKey.keys()]).toEqual([first.kid, next]);

    if (!('jose' in verifiers)) return;
    // What a lead is for: who has just read the key set does not read it again for the next key.
    const atOnce: string[] = [];
    for (let rotation = 0; rotation < 2; rotation += 1) {
      const kid = await rotate(true);
      // The other node signs with it as soon as it has heard.
      const { refused: refusals } = await eventually(async () => {
        const seen = await exchange();
        expect(seen.kid).toBe(kid);
        return seen;
      });
      atOnce.push(...refusals);
    }
    expect(atOnce).toContain('jose: 401');
  },
);
