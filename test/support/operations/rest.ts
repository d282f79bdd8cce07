/** The answer of a REST route. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each route answers with JSON of its own shape.
  readonly body: any;
}

/** Calls a route under `/api`, as with curl. */
export async function callRest(
  { url, token }: { url: string; token?: string | undefined },
  method: string,
  path: string,
  body?: unknown,
): Promise<RestAnswer> {
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
