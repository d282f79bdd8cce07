// An MCP server whose clients sign people in at Signet. It needs `npm install jose @modelcontextprotocol/server`, and a
// resource in Signet whose indicator is its URL, with the scope `notes:read`.
import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const { ISSUER = 'http://localhost:3000/oidc', PORT = '4100' } = process.env;
const origin = `http://localhost:${PORT}`;
const resource = `${origin}/mcp`;
const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
const keys = createRemoteJWKSet(new URL(`${ISSUER}/jwks`));

createServer(async (request, response) => {
  const answer = (status: number, headers: Record<string, string>, body = '') =>
    response.writeHead(status, headers).end(body);
  const json = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' };
  // A client that knows only our URL learns here where people sign in (RFC 9728).
  if (`${origin}${request.url}` === metadata) {
    const scopes_supported = ['notes:read'];
    const described = { resource, authorization_servers: [ISSUER], scopes_supported };
    return answer(200, json, JSON.stringify(described));
  }
  if (request.url !== '/mcp' || request.method !== 'POST') return answer(404, {});
  const challenge = `Bearer resource_metadata="${metadata}", scope="notes:read"`;
  const refuse = (status: number, error: string) =>
    answer(status, { 'WWW-Authenticate': `${challenge}, error="${error}"` });
  const [, token] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (!token) return answer(401, { 'WWW-Authenticate': challenge });
  // A token for another API is not for us, and an ID token is no access token (RFC 9068 §4).
  const options = { issuer: ISSUER, audience: resource, typ: 'at+jwt' };
  const claims = await jwtVerify(token, keys, options).catch(() => undefined);
  if (!claims) return refuse(401, 'invalid_token');
  const scopes = String(claims.payload['scope']).split(' ');
  if (!scopes.includes('notes:read')) return refuse(403, 'insufficient_scope');

  const server = () => {
    const notes = new McpServer({ name: 'notes', version: '1.0.0' });
    notes.registerTool('whoami', { description: 'Says for whom the agent acts.' }, () => ({
      content: [{ type: 'text', text: `${claims.payload.sub}` }],
    }));
    return notes;
  };
  const body = Buffer.concat((await request.toArray()) as Buffer[]);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const asked = new Request(resource, {
    method: 'POST',
    headers: headers as [string, string][],
    body,
  });
  const answered = await createMcpHandler(server).fetch(asked);
  return answer(answered.status, Object.fromEntries(answered.headers), await answered.text());
}).listen(Number(PORT), 'localhost', () => console.log(`The MCP server listens at ${resource}.`));
