// Serves the page that signs people in with oidc-client-ts, and passes calls of its API on.
import { fileURLToPath } from 'node:url';
import express from 'express';

const { ISSUER, CLIENT_ID, API, API_URL, PORT = '4100' } = process.env;
const library = '../browser/oidc-client-ts.min.js';

const app = express();

app.get('/settings.json', (_request, response) => response.json({ ISSUER, CLIENT_ID, API }));

app.get('/oidc-client-ts.min.js', (_request, response) =>
  response.sendFile(fileURLToPath(new URL(library, import.meta.resolve('oidc-client-ts')))),
);

app.get('/api/orders', async (request, response) => {
  const { authorization } = request.headers;
  const answer = await fetch(API_URL, { headers: { authorization } });
  response.status(answer.status).send(await answer.text());
});

app.get(['/', '/sign-in', '/callback', '/orders', '/profile', '/sign-out'], (_request, response) =>
  response.sendFile(fileURLToPath(new URL('oidc-client-ts.html', import.meta.url))),
);

app.listen(Number(PORT), 'localhost', () => console.log(`The client listens on port ${PORT}.`));
