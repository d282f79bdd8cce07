// A receiver of webhooks as a function from a Request to a Response: a route handler of Next.js, a Worker, Deno, Bun.
import { serve } from '@hono/node-server';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const maxBytes = 1024 * 1024;
const webhook = new Webhook(WEBHOOK_SECRET.trim());
// In production: a table, kept for as long as retries can come.
const seen = new Set();

/** In Next.js, this is the whole of `app/hooks/route.js`. */
export async function POST(request) {
  if (!(Number(request.headers.get('content-length')) <= maxBytes)) {
    return new Response(null, { status: 413 });
  }
  let event;
  try {
    // A plain object: in a `Headers` it finds none.
    event = webhook.verify(await request.text(), Object.fromEntries(request.headers));
  } catch {
    return new Response(null, { status: 401 });
  }
  if (!seen.has(event.id)) console.log(event.type, event.data.name);
  seen.add(event.id);
  return new Response(null, { status: 204 });
}

serve({ fetch: POST, port: Number(PORT), hostname: 'localhost' }, () => {
  console.log(`The receiver listens on port ${PORT}.`);
});
