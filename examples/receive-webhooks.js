// A receiver of webhooks. It needs only `npm install standardwebhooks`.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET, PORT = '4002' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
// In production: a table, kept for as long as retries can come.
const seen = new Set();

createServer(async (request, response) => {
  const body = await buffer(request);
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  response.writeHead(204).end();
  if (seen.has(event.id)) return;
  seen.add(event.id);
  console.log(event.type, JSON.stringify(event.data));
}).listen(Number(PORT), 'localhost', () => console.log(`The receiver listens on port ${PORT}.`));
