// An API that asks Signet about each call (AuthZEN Authorization API 1.0) instead of reading scopes in tokens. It needs
// no package. `may` is a middleware for Express as it is; here node:http calls it.
import { createServer } from 'node:http';

const { SIGNET = 'http://localhost:3000', ASKER_ID, ASKER_SECRET, PORT = '4002' } = process.env;
const api = { type: 'api', id: 'https://orders.example.com' };

let token;
/** The token of this program, which holds `permissions:read`: a new one a minute before the last one ends. */
async function ownToken() {
  if (token && token.until > Date.now()) return token.text;
  const response = await fetch(`${SIGNET}/oidc/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${ASKER_ID}:${ASKER_SECRET}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: 'urn:signet:management',
      scope: 'permissions:read',
    }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  const { access_token: text, expires_in: seconds } = await response.json();
  token = { text, until: Date.now() + (seconds - 60) * 1000 };
  return text;
}

/** Whether a user may do something now. No answer is not a yes. */
async function isAllowed(userId, name, organizationId) {
  const response = await fetch(`${SIGNET}/access/v1/evaluation`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${await ownToken()}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      subject: { type: 'user', id: userId },
      action: { name },
      resource: api,
      ...(organizationId ? { context: { organization_id: organizationId } } : {}),
    }),
  });
  return response.ok && (await response.json()).decision === true;
}

/** Lets a call pass whose user may do something. Whoever stands in front has proved the user: see service-b.js. */
const may = (name) => async (request, response, next) => {
  const allowed = await isAllowed(request.headers['x-user-id'], name).catch(() => false);
  if (allowed) return next();
  response.writeHead(403, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ error: `you may not do ${name}` }));
};

createServer((request, response) =>
  may('orders:read')(request, response, () => response.end('the orders\n')),
).listen(Number(PORT), 'localhost', () => console.log(`The API listens on port ${PORT}.`));
