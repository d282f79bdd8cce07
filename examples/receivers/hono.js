// A receiver of webhooks with Hono.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET.trim());
// In production: a table, kept for as long as retries can come.
const seen = new Set();

const app = new Hono();
app.post('/', bodyLimit({ maxSize: 1024 * 1024 }), async (c) => {
  let event;
  try {
    event = webhook.verify(await c.req.text(), c.req.header());
  } catch {
    return c.body(null, 401);
  }
  if (!seen.has(event.id)) console.log(event.type, event.data.name);
  seen.add(event.id);
  return c.body(null, 204);
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, () => {
  console.log(`The receiver listens on port ${PORT}.`);
});
