// A receiver of webhooks with what Node has. It needs no package.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const maxBytes = 1024 * 1024;
const toleranceSeconds = 300;

const key = Buffer.from(WEBHOOK_SECRET.trim().replace(/^whsec_/, ''), 'base64');
// Everybody could sign with an empty key.
if (key.length < 24) throw new Error('WEBHOOK_SECRET is not a secret of a webhook.');
// In production: a table, kept for as long as retries can come.
const seen = new Set();

/** Whether Signet signed the message, at most five minutes ago. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': sent = '' } = headers;
  const { 'webhook-signature': signatures = '' } = headers;
  const age = Date.now() / 1000 - Number(/^\d+$/.test(sent) ? sent : 0);
  if (Math.abs(age) > toleranceSeconds) return false;
  const digest = createHmac('sha256', key).update(`${id}.${sent}.`).update(body).digest('base64');
  const due = Buffer.from(`v1,${digest}`);
  // One for each live secret: there are two after a rotation.
  return signatures.split(' ').some((each) => {
    const given = Buffer.from(each);
    return given.length === due.length && timingSafeEqual(given, due);
  });
}

createServer(async (request, response) => {
  // Signet tells the length. A stranger's body is not read without end.
  if (!(Number(request.headers['content-length']) <= maxBytes)) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const body = await buffer(request);
  if (!isGenuine(request.headers, body)) {
    response.writeHead(401).end();
    return;
  }
  const event = JSON.parse(body);
  const isNew = !seen.has(event.id);
  seen.add(event.id);
  response.writeHead(204).end();
  if (isNew) console.log(event.type, event.data.name);
}).listen(Number(PORT), 'localhost', () => console.log(`The receiver listens on port ${PORT}.`));
