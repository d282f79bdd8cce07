// A receiver of webhooks. It needs only `npm install standardwebhooks`.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const maxBytes = 1024 * 1024;
const webhook = new Webhook(WEBHOOK_SECRET.trim());
// In production: a table, kept for as long as retries can come.
const seen = new Set();

createServer(async (request, response) => {
  // Signet tells the length. A stranger's body is not read without end.
  if (!(Number(request.headers['content-length']) <= maxBytes)) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const body = await buffer(request);
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  const isNew = !seen.has(event.id);
  seen.add(event.id);
  response.writeHead(204).end();
  if (isNew) console.log(event.type, JSON.stringify(event.data));
}).listen(Number(PORT), 'localhost', () => console.log(`The receiver listens on port ${PORT}.`));
