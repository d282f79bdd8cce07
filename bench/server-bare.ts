import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { announce, tokenCount, userCount } from './server.ts';

// The least work of an exchange: one signature verified and one made, without rules or data.

const issuer = 'https://bare.example.com/oidc';
const resource = 'https://orders.example.com/api';
const { publicKey, privateKey } = await generateKeyPair('ES256');

const sign = (sub: string, aud: string, exp: number, claims: object = {}) =>
  new SignJWT({
    iss: issuer,
    sub,
    aud,
    client_id: 'app_1',
    iat: Math.floor(Date.now() / 1000),
    exp,
    jti: randomUUID(),
    scope: 'read write',
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key_1' })
    .sign(privateKey);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const { payload } = await jwtVerify(form.get('subject_token') ?? '', publicKey, {
      issuer,
      typ: 'at+jwt',
    });
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const token = await sign(payload.sub ?? '', form.get('resource') ?? '', exp, {
      act: { sub: 'app_1' },
    });
    const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
      .end(body);
  });
});
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
process.once('SIGTERM', () => process.exit(0));

const exp = Math.floor(Date.now() / 1000) + 86_400;
announce({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  path: '/oidc/token',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  bodies: await Promise.all(
    Array.from({ length: tokenCount }, async (_, i) =>
      new URLSearchParams({
        subject_token: await sign(`user_${i % userCount}`, 'https://gateway.example.com', exp),
        resource,
        scope: 'read write',
      }).toString(),
    ),
  ),
});
