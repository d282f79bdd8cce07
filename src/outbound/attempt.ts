import type { Dispatcher } from 'undici';
import { errors, request } from 'undici';
import { AddressRefused } from './address.ts';
import { AnswerTooLong } from './agent.ts';

/** The most bytes of an answer that are read. */
export const readBytes = 64 * 1024;
/** The most bytes of an answer that are kept. */
export const keptBytes = 4 * 1024;

/** The outcome of an attempt, for metrics and logs. */
export type AttemptOutcome =
  | 'succeeded'
  | 'status'
  | 'redirect'
  | 'timeout'
  | 'connection'
  | 'certificate'
  | 'address'
  | 'preparation';

/** The result of one POST. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** The first 4 KiB of the answer. */
  readonly responseBody: string | null;
  /** Why it failed, or what was unusual about a success. */
  readonly error: string | null;
  /** The answer's `Retry-After`, as sent. */
  readonly retryAfter?: string | undefined;
}

/** The POST was ended because the process stops; it does not count. */
export class AttemptAborted extends Error {
  override readonly name = 'AttemptAborted';
}

/**
 * Posts once. The status decides; the answer's body is only for the log, and at most 64 KiB of it are read. Redirects
 * are not followed.
 *
 * @param message.timeoutMs For the whole attempt, from the name lookup to the end of the answer.
 * @param message.signal Ends the attempt.
 * @throws {AttemptAborted} when `signal` ended it, and nothing else.
 */
export async function post(
  dispatcher: Dispatcher,
  message: {
    readonly url: string;
    readonly headers: Record<string, string>;
    readonly body: Buffer;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<AttemptResult> {
  const { url, headers, body, timeoutMs, signal } = message;
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  const control = new AbortController();
  const abort = () => control.abort();
  signal.addEventListener('abort', abort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort();
  }, timeoutMs);
  const late = `no end of the answer within ${timeoutMs / 1000} s`;
  try {
    const answer = await request(url, {
      method: 'POST',
      headers,
      body,
      dispatcher,
      signal: control.signal,
    });
    const { statusCode } = answer;
    const { text, fault } = await readStart(answer.body);
    if (fault && signal.aborted) throw new AttemptAborted();
    const retryAfter = answer.headers['retry-after'];
    return {
      ...judge(statusCode, isLate ? late : fault),
      durationMs: durationMs(),
      statusCode,
      responseBody: text,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    };
  } catch (error) {
    if (error instanceof AttemptAborted || (signal.aborted && !isLate)) throw new AttemptAborted();
    const { outcome, reason } = isLate
      ? { outcome: 'timeout' as const, reason: `no answer within ${timeoutMs / 1000} s` }
      : explainFault(error);
    return {
      outcome,
      durationMs: durationMs(),
      statusCode: null,
      responseBody: null,
      error: reason,
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function judge(
  status: number,
  fault: string | undefined,
): Pick<AttemptResult, 'outcome' | 'error'> {
  if (status >= 200 && status < 300) return { outcome: 'succeeded', error: fault ?? null };
  if (status >= 300 && status < 400) {
    return { outcome: 'redirect', error: `answered ${status}: redirects are not followed` };
  }
  return { outcome: 'status', error: `answered ${status}` };
}

/** Reads the start of an answer, even if the rest fails. */
async function readStart(
  body: Dispatcher.ResponseData['body'],
): Promise<{ text: string; fault: string | undefined }> {
  const kept: Buffer[] = [];
  let read = 0;
  let fault: string | undefined;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const room = keptBytes - read;
      if (room > 0) kept.push(chunk.subarray(0, room));
      read += chunk.length;
      if (read > readBytes) {
        fault = 'the answer is longer than 64 KiB: the rest was not read';
        break;
      }
    }
  } catch (error) {
    fault = `the answer broke off: ${explainFault(error).reason}`;
  }
  // Decoded as a stream, so that a character cut in two at the end is dropped. PostgreSQL's text cannot hold NUL.
  const start = new TextDecoder().decode(Buffer.concat(kept), { stream: read > keptBytes });
  const text = start.replaceAll('\0', '\u{fffd}');
  return { text, fault };
}

/** Why a connection failed, in words of this service: nothing that the other side said. */
export function explainFault(error: unknown): { outcome: AttemptOutcome; reason: string } {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return { outcome: 'address', reason: cause.message };
    if (cause instanceof AnswerTooLong) return { outcome: 'connection', reason: cause.message };
    // Several addresses were tried.
    if (cause instanceof AggregateError && !('code' in cause)) return explainFault(cause.errors[0]);
    if (cause instanceof errors.HTTPParserError) {
      return { outcome: 'connection', reason: 'the answer is not HTTP/1.1' };
    }
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code !== 'string') continue;
    if (/CERT|^UNABLE_TO|_SIGNATURE$/.test(code)) {
      return { outcome: 'certificate', reason: `the certificate is refused: ${code}` };
    }
    if (code === 'UND_ERR_CONNECT_TIMEOUT') {
      return { outcome: 'timeout', reason: 'no connection in time' };
    }
    if (code === 'UND_ERR_SOCKET') {
      return { outcome: 'connection', reason: 'the connection was closed before the answer' };
    }
    return { outcome: 'connection', reason: `the connection failed: ${code}` };
  }
  return { outcome: 'connection', reason: 'the connection failed' };
}
