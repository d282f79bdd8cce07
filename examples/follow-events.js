// Follows the event log, and continues where it stopped after any interruption. It needs only `npm install graphql-ws
// ws`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

const {
  SIGNET = 'http://localhost:3000',
  CLIENT_ID,
  CLIENT_SECRET,
  CURSOR_FILE = 'cursor',
} = process.env;

/** A token for the event log. Each connection fetches a new one, so that none is stale. */
async function getToken() {
  const response = await fetch(`${SIGNET}/oidc/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: 'urn:signet:management',
      scope: 'events:read',
    }),
  });
  if (!response.ok) throw new Error(`No token: ${await response.text()}`);
  return (await response.json()).access_token;
}

function readCursor() {
  try {
    return readFileSync(CURSOR_FILE, 'utf8');
  } catch {
    return null;
  }
}

const client = createClient({
  url: `${SIGNET.replace('http', 'ws')}/graphql`,
  webSocketImpl: WebSocket,
  connectionParams: async () => ({ authorization: `Bearer ${await getToken()}` }),
  retryAttempts: 0,
});

for (;;) {
  try {
    // A new subscription each time, because the cursor has moved.
    for await (const { data, errors } of client.iterate({
      query: `subscription ($after: String) {
        events(after: $after) { cursor name data }
      }`,
      variables: { after: readCursor() },
    })) {
      if (errors) throw new Error(JSON.stringify(errors));
      console.log(data.events.name, JSON.stringify(data.events.data));
      // The cursor is saved after the work: an event may be seen twice, but none is missed.
      writeFileSync(`${CURSOR_FILE}.new`, data.events.cursor);
      renameSync(`${CURSOR_FILE}.new`, CURSOR_FILE);
    }
  } catch (error) {
    console.error('The socket closed:', error.reason ?? error.message ?? error);
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
