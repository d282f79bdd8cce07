// A receiver of webhooks with Express.
import express from 'express';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET.trim());
// In production: a table, kept for as long as retries can come.
const seen = new Set();

const app = express();
// The bytes as they came, and before `app.use(express.json())`. By default Express takes only 100 kB.
app.post('/', express.raw({ type: 'application/json', limit: '1mb' }), (request, response) => {
  let event;
  try {
    event = webhook.verify(request.body, request.headers);
  } catch {
    response.sendStatus(401);
    return;
  }
  const isNew = !seen.has(event.id);
  seen.add(event.id);
  response.sendStatus(204);
  if (isNew) console.log(event.type, event.data.name);
});

app.listen(Number(PORT), 'localhost', () => {
  console.log(`The receiver listens on port ${PORT}.`);
});
