import type { Agent } from 'undici';
import { request } from 'undici';

/** The most bytes of an answer that are read, unless a caller wants fewer. */
const maxAnswerBytes = 256 * 1024;

/** A request, as client libraries pass it to a `fetch` of one's own. */
interface GuardedRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Fetches a URL. */
export type GuardedFetch = (url: string, options?: GuardedRequest) => Promise<Response>;

/**
 * A `fetch` for client libraries that talk to servers which administrators set. It goes through the agent, which checks
 * addresses; it follows no redirect, and refuses an answer that is too long.
 *
 * @param options.timeoutMs For each request, from the name lookup to the end of the answer.
 * @param options.maxBytes The most bytes of an answer, if fewer are wanted.
 */
export const guardedFetch =
  (
    agent: Agent,
    {
      timeoutMs,
      maxBytes = maxAnswerBytes,
    }: { readonly timeoutMs: number; readonly maxBytes?: number },
  ): GuardedFetch =>
  async (url, { method = 'GET', headers = {}, body, signal } = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const answer = await request(url, {
      method: method as 'GET',
      headers,
      body: body == null ? null : String(body),
      dispatcher: agent,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      length += chunk.length;
      // Leaving the loop destroys the body, and with it the connection.
      if (length > maxBytes) throw new Error(`the answer is longer than ${maxBytes / 1024} KiB`);
      chunks.push(chunk);
    }
    const { statusCode: status } = answer;
    const isBodiless = status < 200 || [204, 205, 304].includes(status);
    return new Response(isBodiless ? null : Buffer.concat(chunks), {
      status: isBodiless ? 204 : status,
      headers: Object.entries(answer.headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      ),
    });
  };
