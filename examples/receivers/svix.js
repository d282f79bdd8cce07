// A receiver of webhooks with svix, whose `verify` takes the headers of Standard Webhooks too.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'svix';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const maxBytes = 1024 * 1024;
const webhook = new Webhook(WEBHOOK_SECRET.trim());
// In production: a table, kept for as long as retries can come.
const seen = new Set();

createServer(async (request, response) => {
  if (!(Number(request.headers['content-length']) <= maxBytes)) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const body = await buffer(request);
  try {
    webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  // Since version 2 `verify` returns nothing.
  const event = JSON.parse(body);
  const isNew = !seen.has(event.id);
  seen.add(event.id);
  response.writeHead(204).end();
  if (isNew) console.log(event.type, event.data.name);
}).listen(Number(PORT), 'localhost', () => console.log(`The receiver listens on port ${PORT}.`));
