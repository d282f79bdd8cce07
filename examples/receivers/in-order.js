// A receiver of webhooks that keeps a copy of the users. Messages come in any order, so it goes by the events' ids.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const maxBytes = 1024 * 1024;
const webhook = new Webhook(WEBHOOK_SECRET.trim());
// In production: a table. A user who was deleted keeps the row, for an update that comes late.
const users = new Map();

/** Takes an event about a user, unless a later one is known. The same event again changes nothing. */
function take({ id, type, data }) {
  const known = users.get(data.id);
  if (known && known.eventId >= id) return;
  const name = type === 'User.Deleted' ? undefined : data.name;
  users.set(data.id, { eventId: id, name });
  console.log(type, name);
}

createServer(async (request, response) => {
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
  if (event.type.startsWith('User.')) take(event);
  response.writeHead(204).end();
}).listen(Number(PORT), 'localhost', () => console.log(`The receiver listens on port ${PORT}.`));
