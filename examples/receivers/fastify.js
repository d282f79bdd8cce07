// A receiver of webhooks with Fastify.
import fastify from 'fastify';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '4002' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET.trim());
// In production: a table, kept for as long as retries can come.
const seen = new Set();

const app = fastify();
// In a plugin of its own, so that other routes get JSON as before.
app.register(async (hooks) => {
  hooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_, body) => body);
  hooks.post('/', async (request, reply) => {
    let event;
    try {
      event = webhook.verify(request.body, request.headers);
    } catch {
      return reply.code(401).send();
    }
    if (!seen.has(event.id)) console.log(event.type, event.data.name);
    seen.add(event.id);
    return reply.code(204).send();
  });
});

await app.listen({ port: Number(PORT), host: 'localhost' });
console.log(`The receiver listens on port ${PORT}.`);
