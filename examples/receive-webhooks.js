// A receiver of webhooks. `npm install standardwebhooks` is all it needs.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET, PORT = '4002' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
// In earnest: a table, for as long as retries come.
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
