// Writes Signet's keys where HAProxy reads them: `node keys.js /etc/haproxy/signet`. HAProxy takes no JWK, and wants
// each key named in its configuration. Run it from a timer, at least twice in SIGNING_KEY_LEAD_SECONDS (60), and reload
// HAProxy when it ends with "changed".
import { createPublicKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { ISSUER } = process.env;
const [, , folder] = process.argv;
mkdirSync(folder, { recursive: true });

const response = await fetch(`${ISSUER}/jwks`);
if (!response.ok) throw new Error(`The key set is not there: ${response.status}`);
const { keys } = await response.json();

const lines = keys
  // HAProxy 2.6 knows neither PS256 nor EdDSA. A name of other letters would be no file's.
  .filter(({ alg, kid }) => ['ES256', 'ES384', 'RS256'].includes(alg) && /^[\w-]+$/.test(kid))
  .map((jwk) => {
    const file = join(folder, `${jwk.kid}.pem`);
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    writeFileSync(file, key.export({ type: 'spki', format: 'pem' }));
    const isMeant = `{ var(txn.kid) -m str ${jwk.kid} } { var(txn.alg) -m str ${jwk.alg} }`;
    return `  http-request set-var(txn.signed) var(txn.token),jwt_verify(txn.alg,"${file}") if ${isMeant}`;
  });

const path = join(folder, 'keys.cfg');
const text = `# Written by keys.js.
defaults signet
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-request set-var(txn.token) http_auth_bearer
  http-request set-var(txn.alg) var(txn.token),jwt_header_query('$.alg')
  http-request set-var(txn.kid) var(txn.token),jwt_header_query('$.kid')
${lines.join('\n')}
`;
if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
  writeFileSync(path, text);
  console.log('changed');
}
