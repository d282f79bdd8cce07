import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { errors } from 'undici';
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

/** The attempt has taken all of its time. */
class AttemptLate extends Error {
  override readonly name = 'AttemptLate';
}

/** The answer is longer than {@link readBytes}. */
class RestUnread extends Error {
  override readonly name = 'RestUnread';
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
  if (signal.aborted) throw new AttemptAborted();
  const startedAt = performance.now();
  const exchange = new Exchange();
  const abort = () => exchange.abort(new AttemptAborted());
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => exchange.abort(new AttemptLate()), timeoutMs);
  try {
    const { origin, pathname, search } = new URL(url);
    const path = `${pathname}${search}`;
    dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, exchange);
    await exchange.ended;
  } catch (error) {
    exchange.abort(error as Error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
  const { statusCode, fault, retryAfter } = exchange;
  if (fault instanceof AttemptAborted) throw fault;
  const durationMs = Math.round(performance.now() - startedAt);
  if (statusCode === null) {
    const { outcome, reason } =
      fault instanceof AttemptLate
        ? { outcome: 'timeout' as const, reason: `no answer within ${timeoutMs / 1000} s` }
        : explainFault(fault);
    return { outcome, durationMs, statusCode, responseBody: null, error: reason };
  }
  return {
    ...judge(statusCode, fault && explainBreak(fault, timeoutMs)),
    durationMs,
    statusCode,
    responseBody: exchange.text(),
    retryAfter,
  };
}

/**
 * One request and the start of its answer, even if the rest fails. It takes the answer as it is parsed: a stream and a
 * signal for each would cost more than everything else about a small answer.
 */
class Exchange implements Dispatcher.DispatchHandler {
  /** Null until there is an answer; interim ones (1xx) are none. */
  statusCode: number | null = null;
  retryAfter: string | undefined;
  /** Why it ended before its end. */
  fault: Error | undefined;
  /** Resolves at the end, whatever it is. */
  readonly ended: Promise<void>;
  readonly #end: () => void;
  #hasEnded = false;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #kept: Buffer[] = [];
  #read = 0;

  constructor() {
    ({ promise: this.ended, resolve: this.#end } = Promise.withResolvers<void>());
  }

  /** The first bytes of the answer as text. */
  text(): string {
    if (this.#read === 0) return '';
    // Decoded as a stream, so that a character cut in two at the end is dropped. PostgreSQL's text cannot hold NUL.
    const decoder = new TextDecoder();
    const start = decoder.decode(Buffer.concat(this.#kept), { stream: this.#read > keptBytes });
    return start.replaceAll('\0', '\u{fffd}');
  }

  /** Ends it with its connection. */
  abort(fault: Error): void {
    this.#endWith(fault);
    this.#controller?.abort(fault);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It ended while the request waited for its connection.
    if (this.fault) controller.abort(this.fault);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.#hasEnded || statusCode < 200) return;
    this.statusCode = statusCode;
    const retryAfter = headers['retry-after'] as string | string[] | undefined;
    this.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#hasEnded) return;
    const room = keptBytes - this.#read;
    if (room > 0) this.#kept.push(chunk.subarray(0, room));
    this.#read += chunk.length;
    if (this.#read > readBytes) this.abort(new RestUnread());
  }

  onResponseEnd(): void {
    this.#endWith(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#endWith(error);
  }

  #endWith(fault: Error | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.fault = fault;
    this.#end();
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

/** Why an answer has no end. */
function explainBreak(fault: Error, timeoutMs: number): string {
  if (fault instanceof AttemptLate) return `no end of the answer within ${timeoutMs / 1000} s`;
  if (fault instanceof RestUnread) {
    return `the answer is longer than ${readBytes / 1024} KiB: the rest was not read`;
  }
  return `the answer broke off: ${explainFault(fault).reason}`;
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
