// How orval's functions send: its own base URL is fixed when it generates, and it has no place for the token.
const { SIGNET = 'http://localhost:3000', TOKEN } = process.env;

export async function send<Answer>(path: string, options: RequestInit): Promise<Answer> {
  const headers = new Headers(options.headers);
  headers.set('Authorization', `Bearer ${TOKEN}`);
  // Where the document names two media types, as for each patch, orval sends none: `fetch` would call the body a text.
  if (options.body && !headers.has('Content-Type'))
    headers.set('Content-Type', 'application/merge-patch+json');
  const response = await fetch(`${SIGNET}/api${path}`, { ...options, headers });
  const text = await response.text();
  const data = text === '' ? {} : JSON.parse(text);
  return { data, status: response.status, headers: response.headers } as Answer;
}
