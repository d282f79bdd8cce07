import type { ExecutionResult } from 'graphql';
import { type FetchAPI, isAsyncIterable, type Plugin } from 'graphql-yoga';
import { encodePosition } from '../../events/position.ts';
import { publicError } from '../../graphql/public-error.ts';
import type { SerializedResult } from './result-stream.ts';

/** How often an idle stream sends a ping. */
const pingMs = 12_000;

type Result = ExecutionResult | SerializedResult;

/**
 * Sends the results of subscriptions as server-sent events. Unlike Yoga's frames, those of the event log have the
 * event's cursor as id: a browser that reconnects sends the last id, and the stream continues there.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#the-last-event-id-header
 * @see https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md#distinct-connections-mode
 */
export const eventStreamPlugin: Plugin = {
  onResultProcess({ result, resultProcessor, setResultProcessor }) {
    // Only clients that accept server-sent events have a result processor here. Yoga's type does not know the results
    // that the feed has already serialized.
    if (!isAsyncIterable(result) || !resultProcessor) return;
    setResultProcessor(
      (results, fetchAPI) => eventStream(results as unknown as AsyncIterable<Result>, fetchAPI),
      'text/event-stream',
    );
  },
  // Of single results too, which Yoga sends.
  onResponse({ response: { headers } }) {
    if (!headers.get('content-type')?.startsWith('text/event-stream')) return;
    // A proxy such as nginx would hold the events back.
    headers.set('x-accel-buffering', 'no');
  },
};

function eventStream(
  results: AsyncIterable<Result>,
  { ReadableStream, Response }: FetchAPI,
): Response {
  const iterator = results[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const ping = () => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(':\n\n'));
      };
      // Sent at once: some browsers report an answer only when its first bytes arrive.
      ping();
      timer = setInterval(ping, pingMs);
    },
    async pull(controller) {
      try {
        const { done, value } = await iterator.next();
        if (!done) {
          controller.enqueue(encoder.encode(frameOf(value)));
          return;
        }
        clearInterval(timer);
        controller.enqueue(encoder.encode('event: complete\ndata:\n\n'));
        controller.close();
      } catch (error) {
        clearInterval(timer);
        controller.error(error);
      }
    },
    async cancel() {
      clearInterval(timer);
      await iterator.return?.();
    },
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'content-encoding': 'none',
    },
  });
}

function frameOf(result: Result): string {
  if (!('stringify' in result)) return `event: next\ndata: ${JSON.stringify(told(result))}\n\n`;
  const id = result.position ? `id: ${encodePosition(result.position)}\n` : '';
  return `${id}event: next\ndata: ${result.stringify()}\n\n`;
}

const told = ({ errors, ...result }: ExecutionResult) => ({
  ...result,
  ...(errors ? { errors: errors.map(publicError) } : {}),
});
